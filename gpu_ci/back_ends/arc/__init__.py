"""Runners on EKS: a scale set of the Actions Runner Controller, on GPU node groups that scale from zero."""
