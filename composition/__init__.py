"""How the parts are put together: the two clouds' halves, and the way from the stack file to the parts' arguments."""
