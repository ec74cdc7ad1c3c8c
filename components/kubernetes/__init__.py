"""Components inside the cluster: services as pinned charts, with their values as pure neighbours."""
