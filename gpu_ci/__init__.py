"""The program: what `pulumi up` imports, besides the components in `components/`."""
