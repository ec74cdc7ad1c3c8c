"""What exists: one noun a file, each a component that takes typed arguments and gives outputs that are ready to use.

Components do not know the stack file, nor each other, but for the named building blocks
(`components.aws.workload_role`, `components.kubernetes.chart`).
"""
