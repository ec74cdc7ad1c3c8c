"""Questions that several checks ask: the objects of the stack as the outside systems have them."""
