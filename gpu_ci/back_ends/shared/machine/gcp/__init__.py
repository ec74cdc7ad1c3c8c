"""One long-lived machine on Compute Engine, with its network, permissions and alarms."""
