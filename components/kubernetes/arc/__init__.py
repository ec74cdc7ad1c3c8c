"""The Actions Runner Controller and its scale sets."""
