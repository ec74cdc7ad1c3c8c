"""The sections of the stack file: closed, frozen types."""
