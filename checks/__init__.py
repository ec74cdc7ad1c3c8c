"""The checks of a stack, one module each."""
