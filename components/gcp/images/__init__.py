"""Images on Google Cloud: the host image, and repositories of container images."""
