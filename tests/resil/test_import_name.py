# SPDX-License-Identifier: Apache-2.0
"""resil is imported by one name: files of a user's own that bear the names of its folders are never met."""

from __future__ import annotations

import subprocess
import sys

OWN = ("stats", "reports", "networks", "rtl_harness")


def test_a_users_own_modules_beside_are_not_met(tmp_path):
    """The fault: beside a user's own `stats.py`, the import of resil died."""
    for name in OWN:
        (tmp_path / f"{name}.py").write_text("raise SystemExit('a module of the user was met')\n")
    code = "from resil import Run, load_campaign, run_campaign; import resil.reports, resil.stats"
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
