"""The commands, one a module: `ops plan` is `ops.cli.commands.plan.main`."""
