"""Known messages in logs, with their meaning and their fix."""
