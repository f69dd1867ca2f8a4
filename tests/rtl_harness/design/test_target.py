# SPDX-License-Identifier: Apache-2.0
import tomllib

import pytest

from resil.rtl_harness.design.target import load_target
from resil.rtl_harness.errors import HarnessError
from testkit.errors import about

GOOD = """
name = "t"
top = "bench"
sources = ["b.sv", "*.sv"]
clock = "clk"
reset = "rst"
reset_active_low = false
dut = "u_dut"
done = "done"
[parameters]
Words = 8
[blocks]
one = "u_dut.u_one"
two = ["u_dut.u_two", "u_dut.u_three"]
[memories.m]
path = "u_m.mem_q"
word_bytes = 4
plusarg = "m"
"""


@pytest.fixture
def write(tmp_path):
    for name in ("a.sv", "b.sv", "c.sv"):
        (tmp_path / name).write_text("")

    def writer(text):
        path = tmp_path / "t.toml"
        path.write_text(text)
        return path

    return writer


def test_reads_all_entries(write, tmp_path):
    target = load_target(write(GOOD))
    assert [s.name for s in target.sources] == ["b.sv", "a.sv", "c.sv"]
    assert target.sources[0] == (tmp_path / "b.sv").resolve()
    assert target.blocks == {"one": ("u_dut.u_one",), "two": ("u_dut.u_two", "u_dut.u_three")}
    assert target.memories["m"].word_bytes == 4
    assert target.memories["m"].observed
    assert target.parameters == {"Words": 8}
    assert not target.reset_active_low
    assert target.reset_cycles == 4


@pytest.mark.parametrize("name", ["ethos-u55-32"])
def test_shipped_targets_load(name):
    target = load_target(name)
    assert target.name == name
    assert set(target.blocks) == {"cc", "dma", "wd", "mac", "ao", "sb", "cpm"}
    assert target.macros == ("u_npu.u_sb.gen_bank[*].u_bank",)


def test_unknown_name_lists_the_shipped_ones():
    with pytest.raises(HarnessError, match=r"ethos-u55-32.*found 'ethos-u56'"):
        load_target("ethos-u56")


def test_missing_file(tmp_path):
    with pytest.raises(HarnessError, check=about("file")):
        load_target(tmp_path / "none.toml")


@pytest.mark.parametrize(
    ("old", "new", "field"),
    [
        ('done = "done"', "", "done"),
        ('done = "done"', 'done = "done"\nerorr = "e"', "erorr"),
        ('done = "done"', 'done = "done"\nmacros = 3', "macros"),
        ('done = "done"', 'done = "done"\nmacros = ["a.*", "b", "a.*"]', "macros"),
        ('done = "done"', "done = 1", "done"),
        ('"*.sv"', '"*.vhd"', "sources"),
        ('"*.sv"', '"**.sv"', "sources"),
        ('"*.sv"', f'"{"a/" * 2000}*"', "sources"),
        ('"*.sv"', f'"{"x" * 5000}"', "sources"),
        ('"*.sv"', '"\\u0000"', "sources"),
        ("[parameters]", 'include_dirs = "\\u0000"\n[parameters]', "include_dirs"),
        ('["b.sv", "*.sv"]', "[]", "sources"),
        ("reset_active_low = false", "reset_cycles = true", "reset_cycles"),
        ("word_bytes = 4", "word_bytes = 0", "memories.m.word_bytes"),
        ("word_bytes = 4", "", "memories.m.word_bytes"),
        ('plusarg = "m"', 'plusarg = "m"\nobservd = true', "memories.m.observd"),
        ('one = "u_dut.u_one"', 'one = "u_dut.u_two"', "blocks.two"),
        ("Words = 8", 'Words = "8"', "parameters.Words"),
        ('name = "t"', "name = ", "file"),
        (
            "[parameters]",
            '[titles]\nonne = "x"\n[parameters]',
            "titles.onne",
        ),
        ("[parameters]", "[titles]\none = 1\n[parameters]", "one"),
        ("[parameters]", 'include_dirs = ["inc"]\n[parameters]', "include_dirs"),
    ],
)
def test_wrong_entries_are_named(write, old, new, field):
    assert old in GOOD
    path = write(GOOD.replace(old, new))
    with pytest.raises(HarnessError, check=about(field)) as caught:
        load_target(path)
    assert str(path.resolve()) in str(caught.value) or str(path) in str(caught.value)


def test_example_is_good_toml():
    assert tomllib.loads(GOOD)["top"] == "bench"


def test_shipped_files_are_named_with_a_prefix(write, repository):
    sources = load_target(write(GOOD.replace('"*.sv"', '"resil:bench/*.sv"'))).sources
    shipped = sorted(path.name for path in (repository / "rtl_harness" / "bench").glob("*.sv"))
    assert "resil_axi_mem.sv" in shipped
    assert [path.name for path in sources] == ["b.sv", *shipped]
    with pytest.raises(HarnessError, check=about("sources")):
        load_target(write(GOOD.replace('"*.sv"', '"resil:bench/other.sv"')))


def test_a_name_longer_than_any_file_may_have_is_none_of_a_target():
    with pytest.raises(HarnessError, check=about("name")):
        load_target("x" * 5000)
    with pytest.raises(HarnessError, match=r"ethos-u65-512 is not built: .*WEIGHT1_BASE"):
        load_target("ethos-u65-512")


UNREADABLE = {
    "core.vhd": ("entity core is end;", "sources.vhdl"),
    "core.VHDL": ("entity core is end;", "sources.vhdl"),
    "rtl.f": ("a.sv\n", "sources.list"),
    "design.vc": ("--cc a.sv\n", "sources.list"),
    "secret.v": ("module s;\n`pragma protect begin_protected\nxyz\nendmodule\n", "sources.encrypted"),
    "secret.sv": ("module s;\n`protected\nxyz\n`endprotected\nendmodule\n", "sources.encrypted"),
    "vendor.v": ("//pragma protect begin_protected\nxyz\n", "sources.encrypted"),
}


@pytest.mark.parametrize("name", UNREADABLE)
def test_sources_that_no_front_end_reads(name, write, tmp_path):
    """The refusals of a file list, where the same files stand in a target file."""
    text, field = UNREADABLE[name]
    (tmp_path / name).write_text(text)
    with pytest.raises(HarnessError, match=name) as raised:
        load_target(write(GOOD.replace('"*.sv"', f'"*.sv", "{name}"')))
    assert raised.value.field == field


def test_a_source_may_talk_of_encryption(write, tmp_path):
    (tmp_path / "plain.v").write_text(
        "// says `protected in words\n`pragma protect end\nmodule p; endmodule\n"
    )
    assert len(load_target(write(GOOD.replace('"*.sv"', '"*.sv", "plain.v"'))).sources) == 4


OPEN = """
name = "t"
top = "t"
sources = ["a.sv"]
clock = "clk"
[parameters]
"""
VALUES = {
    "P = -3": -3,
    "P = 1.5": "1.5",
    'P = "8\'hFF"': "8'hFF",
    'P = "4\'b1010"': "4'b1010",
    'P = "\'1"': "'1",
    "P = '\"a text\"'": '"a text"',
    r"""P = '"with \" a quote"'""": r'"with \" a quote"',
}


@pytest.mark.parametrize("line", VALUES)
def test_parameters_are_numbers_and_literals(line, write):
    assert load_target(write(OPEN + line)).parameters == {"P": VALUES[line]}


@pytest.mark.parametrize(
    "value",
    [
        '"fast"',
        '"12"',
        "true",
        "[1]",
        "nan",
        '"4\'b1x"',
        '"8\'b12"',
        "'\"open'",
        '\'"a"b"\'',
        '"logic [3:0]"',
    ],
)
def test_values_that_no_parameter_has(value, write):
    with pytest.raises(HarnessError, match="expected a whole number, a real number, or a literal") as raised:
        load_target(write(f"{OPEN}P = {value}"))
    assert raised.value.field == "parameters.P"


def test_a_bench_has_whole_numbers_alone(write):
    """Synthesis would read the quotes of a list away."""
    with pytest.raises(HarnessError, match="is a bench") as raised:
        load_target(write(GOOD.replace("Words = 8", 'Words = "8\'d8"')))
    assert raised.value.field == "parameters.Words"
