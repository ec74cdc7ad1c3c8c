"""Runners on one machine that a workflow starts for its tests and stops afterwards."""
