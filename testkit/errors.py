# SPDX-License-Identifier: Apache-2.0
"""What an error is compared by: its field or code, where the sentence is no contract."""

from __future__ import annotations

from collections.abc import Callable


def about(field: str) -> Callable[[BaseException], bool]:
    """Return a check for `pytest.raises(..., check=about("unit"))`: the error's `field` is this one."""
    return lambda error: getattr(error, "field", None) == field
