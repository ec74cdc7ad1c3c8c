"""Run the program; `pulumi up` starts here."""

from gpu_ci.derived.prerequisites import fault
from gpu_ci.program import run

run(fault)
