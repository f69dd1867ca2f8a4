# SPDX-License-Identifier: Apache-2.0
"""The version of the package."""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError, version

try:
    __version__ = version("resil")
except PackageNotFoundError:  # a source tree that was never installed
    __version__ = "0+unknown"
