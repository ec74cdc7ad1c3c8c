"""Checks of money: the bill of a month, and what Spot saves."""
