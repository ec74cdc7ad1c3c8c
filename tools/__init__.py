"""Tools that build and test the project. The program does not import them."""
