"""The versions that a change of the program or of a stack file moves, in the order in which an update applies them."""
