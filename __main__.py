"""Run the program; `pulumi up` starts here."""

import shutil

from gpu_ci.program import run

run(shutil.which)
