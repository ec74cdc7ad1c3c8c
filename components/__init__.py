"""Components: one noun a file, created from `(name, args, opts)`, with outputs that are ready to use.

A component knows neither the stack file nor other components, except the building blocks that
`tests/house/test_floors.py` lists.
"""
