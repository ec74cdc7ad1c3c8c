"""The real Pulumi engine, driven from Python."""
