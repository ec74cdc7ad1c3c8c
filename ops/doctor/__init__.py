"""The doctor: checks of the real clouds, the cluster and GitHub, in the order in which a job needs them."""
