"""Machines that boot the user data of a runner with the real systemd and cloud-init."""
