# SPDX-License-Identifier: Apache-2.0
"""Examples in the docstrings of the Python API run, in a folder with a campaign and its finished run."""

from __future__ import annotations

import doctest

import pytest

import resil
from testkit import fake
from testkit.campaigns import TEXT


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder with `campaign.toml` and `run`, as the examples have it."""
    folder = tmp_path_factory.mktemp("examples")
    (folder / "campaign.toml").write_text(TEXT)
    with pytest.MonkeyPatch.context() as patch:
        fake.install(patch)
        resil.run_campaign(resil.load_campaign(folder / "campaign.toml"), folder / "run")
    return folder


def public():
    """Each public object but the version, and methods of `Run` that have an example."""
    names = [name for name in resil.__all__ if name != "__version__"]
    finder = doctest.DocTestFinder(exclude_empty=False)
    found = [test for name in names for test in finder.find(getattr(resil, name), name)]
    return [test for test in found if test.examples or test.name in names]


@pytest.mark.parametrize("example", public(), ids=lambda example: example.name)
def test_examples_of_the_python_api_are_true(example, folder, monkeypatch):
    fake.install(monkeypatch)
    monkeypatch.chdir(folder)
    assert example.examples, f"{example.name} has no example"
    assert doctest.DocTestRunner(optionflags=doctest.ELLIPSIS).run(example).failed == 0
