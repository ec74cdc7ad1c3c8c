"""One long-lived machine on EC2, with its network, permissions, schedule and alarms."""
