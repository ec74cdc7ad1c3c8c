"""NVIDIA drivers, CUDA, container images and frameworks: dated tables, and the rules of their compatibility."""
