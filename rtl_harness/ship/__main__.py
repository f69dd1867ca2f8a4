# SPDX-License-Identifier: Apache-2.0
"""`python -m resil.rtl_harness.ship` makes anew what comes with the package of the shipped targets."""

from __future__ import annotations

import sys

from resil.rtl_harness.errors import HarnessError
from resil.rtl_harness.ship.make import make_shipped, shipped_targets
from resil.rtl_harness.shipped.results import FOLDER


def main() -> int:
    """Write the results beside this file and say what each weighs."""
    try:
        index = make_shipped(FOLDER, shipped_targets(), lambda line: print(line, flush=True))
    except HarnessError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    size = sum((FOLDER / result.file).stat().st_size for result in index)
    print(f"{len(index)} results, {size:,} bytes, in {FOLDER}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
