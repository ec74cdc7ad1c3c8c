"""The proof of a live cluster: a Job on each GPU pool, from zero nodes to a product in PyTorch, with its times."""
