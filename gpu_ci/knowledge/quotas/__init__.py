"""Cloud quotas: which of them a machine counts against, and by how much."""
