"""Prices, and what a stack costs in a month."""
