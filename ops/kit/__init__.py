"""The writer of a repository's files: `make kit`."""
