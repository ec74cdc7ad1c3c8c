"""Checks of machines and nodes: the room for jobs, and how an empty pool gets its first node."""
