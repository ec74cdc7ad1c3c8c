"""What builds and tests the project, and is no part of what it deploys."""
