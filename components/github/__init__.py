"""Settings of repositories at GitHub."""
