"""Runners on EC2: cirun starts an instance for each job."""
