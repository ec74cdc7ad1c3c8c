"""Machine images: one folder per image, and the program that builds them."""
