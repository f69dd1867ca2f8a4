# SPDX-License-Identifier: Apache-2.0
"""What an instance's ports are connected to, read from the text of its source."""

from __future__ import annotations

import pytest

from resil.rtl_harness.redundancy.source_text import NotEditableError, SourceText

PORTS = ["clk", "go", "word", "done"]
NAMED = {"clk": "clk", "go": "a & b", "word": "{x, y}", "done": ""}


def parts(connections, before="core"):
    text = f"module holder (input wire clk);\n  {before} u_core ({connections}\n);\nendmodule\n"
    return SourceText(text).instance_parts("holder", "core", "u_core", PORTS)


@pytest.mark.parametrize(
    ("connections", "expected"),
    [
        (".clk(clk), .go(a & b), .word({x, y}), .done()", NAMED),
        (".clk, .go (a & b), .word({x, y}), .done()", NAMED),
        (".clk(clk), // the clock, as (ever)\n .go(a & b // both\n), .word({x, /* , */y}), .done()", NAMED),
        ("clk, a & b, {x, y}, ", NAMED),
        ("clk, // first\n a & b, {x, y} // last", {k: v for k, v in NAMED.items() if k != "done"}),
        (".go(a & b), .*", {"clk": "clk", "go": "a & b", "word": "word", "done": "done"}),
        (".*", {port: port for port in PORTS}),
        (
            ".clk(clk),\n`ifdef FORMAL\n .seen(), .valid(v),\n`endif\n .go(a & b), .word({x, y}), .done()",
            NAMED,
        ),
        ('.clk(clk), .go(f("a, (b")), .word({x, y}), .done()', NAMED | {"go": 'f("a, (b")'}),
    ],
    ids=[
        "names",
        "own name",
        "comments",
        "order",
        "order with comments",
        "names and all",
        "all",
        "branch",
        "string",
    ],
)
def test_what_ports_are_connected_to(connections, expected):
    before, found = parts(connections)
    assert before.strip() == "core"
    assert {port: " ".join(text.split()) for port, text in found.items()} == expected


def test_parameters_stand_before_the_name():
    before, found = parts(".clk(clk)", 'core #(.Width (8), .Name ("a, (b"))')
    assert before.strip() == 'core #(.Width (8), .Name ("a, (b"))'
    assert found == {"clk": "clk"}


@pytest.mark.parametrize(
    ("connections", "why"),
    [
        (".clk(clk),\n`ifdef FAST\n .go(a)\n`else\n .go(b)\n`endif", "comma behind its port go"),
        (".clk(clk)\n`ifdef FAST\n , .go(a)\n`else\n , .go(b)\n`endif", "its port go in two ways"),
        ("clk,\n`ifdef FAST\n a,\n`endif\n b", "an order that is not known"),
        ("clk, a, b, c, d", "an order that is not known"),
        (".clk(clk), a", "connections by names, found a"),
        (".other(clk)", "connects no ports"),
        ("", "connects no ports"),
    ],
)
def test_what_is_not_read(connections, why):
    with pytest.raises(NotEditableError, match=why):
        parts(connections)
