"""Fake clouds behind Pulumi's provider protocol; see README.md."""
