# SPDX-License-Identifier: Apache-2.0
"""Two local workers with the real simulator give what this process alone gives."""

from __future__ import annotations

import os
import subprocess
import sys

from resil.cli import main
from testkit.campaigns import TEXT, write_campaign
from testkit.stored_rows import rows


def test_two_local_workers(tmp_path):
    (tmp_path / "alone").mkdir()
    alone = write_campaign(tmp_path / "alone", TEXT)
    main(["run", str(alone), "--out", str(tmp_path / "one"), "--quiet", "--workers", "1"])
    file = write_campaign(tmp_path, f'{TEXT}\n[execution.dask]\ncluster = "local"\nworkers = 2\n')
    command = [sys.executable, "-m", "resil", "run", str(file), "--out", str(tmp_path / "two")]
    done = subprocess.run(command, capture_output=True, text=True, env=os.environ, check=False, timeout=300)
    assert done.returncode in (0, 1, 3), done.stderr
    assert "starting 2 workers (local)" in done.stderr
    assert rows(tmp_path / "two").equals(rows(tmp_path / "one"))
    assert (tmp_path / "two" / "blocks.csv").read_bytes() == (tmp_path / "one" / "blocks.csv").read_bytes()
