"""Networks on AWS: the VPC of the cluster, and those of runners."""
