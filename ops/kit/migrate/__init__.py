"""Rewrite old cirun files to the current format."""
