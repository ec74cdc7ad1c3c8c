"""The command that starts and stops a machine around the tests of a workflow. The kit copies it into a repository."""
