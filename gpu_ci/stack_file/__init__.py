"""The stack file: closed, frozen sections, and the rules between them.

Only `config.load` reads Pulumi's configuration. It reports every fault in one run.
"""
