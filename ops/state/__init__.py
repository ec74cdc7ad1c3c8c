"""The state of a stack: what endangers the next update, and its repair."""
