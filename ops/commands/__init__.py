"""The commands, one a module: `ops plan` is `ops.commands.plan.main`."""
