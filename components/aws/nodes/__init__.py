"""Node groups of the EKS cluster, their labels and taints, and their alarms."""
