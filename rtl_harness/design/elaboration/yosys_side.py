# SPDX-License-Identifier: Apache-2.0
"""Run one Yosys script in a process of its own: Yosys ends the process when it meets an error.

Called as `python yosys_side.py SCRIPT`; the log goes to standard output.
"""

import sys

from pyosys import libyosys


def main(script: str) -> None:
    """Run every line of the file `script` as a Yosys command."""
    design = libyosys.Design()
    with open(script, encoding="utf-8") as file:
        for line in file:
            if line.strip():
                libyosys.run_pass(line.strip(), design)


if __name__ == "__main__":
    main(sys.argv[1])
