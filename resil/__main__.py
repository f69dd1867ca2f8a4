# SPDX-License-Identifier: Apache-2.0
"""`python -m resil` is the command line."""

import sys

from resil.cli import main

sys.exit(main())
