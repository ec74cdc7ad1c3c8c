"""Cloud quotas: which one a machine counts against, and how much of it."""
