"""The fake Kubernetes of an EKS cluster: its API server with Helm, and the Actions Runner Controller."""
