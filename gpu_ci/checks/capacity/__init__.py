"""Checks of capacity: counts, quotas, zones and waiting time."""
