"""The effect of a change: a stack file and program compared with those of another commit."""
