"""What `pulumi up` runs."""

import shutil

from program import run

run(shutil.which)
