"""Pods, nodes and the scheduler: the room on a node, and the node that the Cluster Autoscaler assumes."""
