# SPDX-License-Identifier: Apache-2.0
"""Benchmarks of the engines."""

import os

# As in the command line: one thread for matrix products, before numpy is loaded.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
