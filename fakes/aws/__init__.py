"""The fake AWS: what it answers and what it refuses."""
