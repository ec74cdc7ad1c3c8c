"""Steps of this repository's pipelines: deploy, look for drift, and comment on pull requests."""
