# SPDX-License-Identifier: Apache-2.0
"""Parameters of the NPU's RTL on a benchmark's command line."""

from __future__ import annotations

import argparse


def parameter(text: str) -> tuple[str, int]:
    """Return name and value of `NAME=VALUE`.

    Raises:
        argparse.ArgumentTypeError: If it is not of that form, or the value is no integer.
    """
    name, _, value = text.partition("=")
    if not name.isidentifier() or not value.isdigit():
        raise argparse.ArgumentTypeError(f"expected NAME=VALUE with an integer, found {text!r}")
    return name, int(value)
