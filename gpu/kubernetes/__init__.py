"""Pods, nodes and the scheduler: what a node offers, and what the Cluster Autoscaler assumes of an empty group."""
