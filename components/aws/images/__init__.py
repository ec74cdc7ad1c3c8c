"""Images on AWS: machine images, and registries of container images."""
