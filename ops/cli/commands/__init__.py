"""The commands, one per module: `ops plan` is `ops.cli.commands.plan.main`."""
