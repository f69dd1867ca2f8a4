# SPDX-License-Identifier: Apache-2.0
"""The notebooks in examples/ run, and show what they were shipped with."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parents[1] / "examples"
EXECUTE = """
import sys, nbformat
from nbclient import NotebookClient
notebook = nbformat.read(sys.argv[1], as_version=4)
NotebookClient(notebook, timeout=500, resources={"metadata": {"path": sys.argv[2]}}).execute()
nbformat.write(notebook, sys.argv[3])
"""


def shown(file):
    """Results of all cells, without pictures, and how many pictures there are."""
    cells = json.loads(file.read_text())["cells"]
    outputs = [output for cell in cells for output in cell.get("outputs", ()) if "data" in output]
    texts = ["".join(o["data"]["text/plain"]) for o in outputs if o["output_type"] == "execute_result"]
    return texts, sum("image/png" in output["data"] for output in outputs)


@pytest.mark.parametrize("name", sorted(path.name for path in EXAMPLES.glob("*.ipynb")))
def test_a_notebook_gives_what_it_shows(name, tmp_path):
    done = subprocess.run(
        [sys.executable, "-c", EXECUTE, str(EXAMPLES / name), str(EXAMPLES), str(tmp_path / name)],
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    texts, pictures = shown(tmp_path / name)
    assert pictures >= 1
    assert len(texts) >= 3
    assert (texts, pictures) == shown(EXAMPLES / name)
