"""The commands that people and pipelines run, one per module: `ops plan` is `ops.cli.commands.plan.main`."""
