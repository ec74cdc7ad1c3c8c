"""The world of the checks: the outside systems, live or recorded, and the removal of secrets."""
