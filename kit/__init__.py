"""Typed models of `.cirun.yml` and of workflows, and their rendering to files of a repository."""
