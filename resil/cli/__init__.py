# SPDX-License-Identifier: Apache-2.0
"""The command line: arguments in, exit code out; data to stdout, progress and messages to stderr."""

import os

# Injections are shared by processes, one for each processor: threads of a matrix product would spin, waiting
# for each other. It is read when numpy is loaded.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

from resil.cli.entry import main

__all__ = ["main"]
