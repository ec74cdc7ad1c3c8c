"""Runners on Compute Engine: cirun starts an instance for each job, from the stack's own image."""
