"""The program that creates, once for each stack, what it needs itself: state, key, and access for pipelines."""
