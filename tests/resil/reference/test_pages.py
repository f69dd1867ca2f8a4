# SPDX-License-Identifier: Apache-2.0
"""The committed pages of the reference are those that the declarations make."""

from __future__ import annotations

from pathlib import Path

import pytest

from resil.cli.app import COMMANDS, app
from resil.reference.markdown import attributes
from resil.reference.pages import PAGES, commands_page
from resil.rtl_harness.design.target import Target

FOLDER = Path(__file__).parents[3] / "docs" / "reference"


@pytest.mark.parametrize("name", PAGES)
def test_the_page_is_up_to_date(name):
    made = PAGES[name]()
    assert (FOLDER / name).read_text() == made, "run: python -m resil.reference docs/reference"
    assert max(map(len, made.splitlines())) <= 120


def test_every_command_has_a_section():
    page = commands_page()
    names = [info.name or info.callback.__name__ for info in app.registered_commands]
    assert len(names) == len(COMMANDS)
    assert [name for name in names if f"## resil {name}\n" not in page] == []
    assert "**`--json`**" in page


def test_attributes_are_read_whole_from_a_docstring():
    found = attributes(Target)
    assert found["top"] == "Top module."
    assert found["macros"].endswith('"*" stands for anything but a dot.')
