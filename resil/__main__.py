"""`python -m resil` is the command line."""

import sys

from resil.cli import main

sys.exit(main())
