"""Runners on one virtual machine of EC2 or Compute Engine, which stops when it is idle."""
