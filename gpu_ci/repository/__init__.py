"""Files of a repository that uses the runners of a stack: cirun files, workflows and scripts."""
