"""The EKS cluster: the control plane, its add-ons, and roles for its pods."""
