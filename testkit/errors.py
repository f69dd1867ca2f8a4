# SPDX-License-Identifier: Apache-2.0
"""What an error is compared by: the field that is wrong, where the sentence is no contract."""

from __future__ import annotations

from collections.abc import Callable


def about(field: str) -> Callable[[BaseException], bool]:
    """Return a check for `pytest.raises(..., check=about("unit"))`: the error's `field` is this one."""

    def check(error: BaseException) -> bool:
        found = getattr(error, "field", None)
        assert found == field, f"expected an error about {field!r}, found one about {found!r}: {error}"
        return True

    return check
