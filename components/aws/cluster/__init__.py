"""The EKS cluster: control plane, add-ons, node groups and their alarms."""
