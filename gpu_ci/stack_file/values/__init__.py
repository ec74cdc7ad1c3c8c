"""Value types of the stack file."""
