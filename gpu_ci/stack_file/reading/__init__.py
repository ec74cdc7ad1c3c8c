"""Reading of a stack file: YAML, types and rules, with every fault in one run."""
