"""Long-lived machines with a runner of their own: what the back ends `vm` and `start-stop` share."""
