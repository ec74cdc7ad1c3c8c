"""Checks of images: their software, their pins and their regions."""
