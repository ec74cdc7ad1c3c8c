"""The AWS side: network, control plane, machines and registries, with their pure neighbours."""
