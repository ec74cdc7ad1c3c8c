"""Pulumi's provider protocol in front of the fake cloud."""
