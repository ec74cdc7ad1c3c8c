"""The fake cloud without its rows: requests, objects, the shape of a row, and the refusals that rows describe."""
