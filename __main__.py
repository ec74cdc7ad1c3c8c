"""What `pulumi up` runs."""

from program import run

run()
