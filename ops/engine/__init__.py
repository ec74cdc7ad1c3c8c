"""The driver of the real Pulumi engine."""
