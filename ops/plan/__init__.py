"""The recorded plan: the program run without an engine, and what is printed of it."""
