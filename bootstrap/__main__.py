"""Run the program of the bootstrap; `make bootstrap` starts here."""

import sys
from pathlib import Path

# Pulumi adds the folder of the program to the path, but the modules are imported from the folder above.
sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from bootstrap.program import run

run()
