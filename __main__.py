"""Run the program; `pulumi up` starts here."""

import shutil

from program import run

run(shutil.which)
