"""The stack file: closed, frozen sections, and the rules between them.

Only `gpu_ci.stack_file.reading.load` reads Pulumi's configuration. It reports every fault in one run.
"""
