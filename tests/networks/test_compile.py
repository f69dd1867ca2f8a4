# SPDX-License-Identifier: Apache-2.0
"""Compilation with Vela: what comes out, the cache, and what is refused."""

from __future__ import annotations

import io
import subprocess
import sys
import zipfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from resil.networks import vela
from resil.networks.command_stream import (
    commands,
    disassemble,
    encode,
    npu_operations,
    parse_driver_payload,
)
from resil.networks.compile import CompiledNetwork, compile_network
from resil.networks.errors import NetworkError
from resil.networks.float_network import FloatLayer, FloatNetwork
from resil.networks.geometry import Window
from resil.networks.graph import Graph, Operator, Quantisation, Tensor
from resil.networks.quantise import quantise, quantize_multiplier
from resil.networks.tflite_writer import write_network
from resil.networks.vela_report import parse_report
from testkit.errors import about


@pytest.fixture(scope="module")
def compiled(digits) -> Callable[[str], CompiledNetwork]:
    return lambda accelerator: compile_network(digits.path, accelerator)


@pytest.mark.parametrize("accelerator", vela.ACCELERATORS)
def test_digits_compiles_for_every_accelerator(compiled, digits, accelerator):
    network = compiled(accelerator)
    assert (network.name, network.accelerator) == ("digits", accelerator)
    assert network.source_sha256 == digits.record["sha256"]
    assert network.commands.dtype == np.uint32
    assert [o.name for o in network.operations] == ["conv1", "conv2", "conv3", "logits"]
    assert [o.operator for o in network.operations] == ["Conv2D"] * 3 + ["FullyConnected"]
    assert [o.macs for o in network.operations] == [4608, 18432, 9216, 640]
    assert sum(o.vela_cycles for o in network.operations) == network.vela_total_cycles
    assert all(network.commands[o.word] & 0x3FF == 2 for o in network.operations)
    assert list(commands(network.commands))[-1].mnemonic == "NPU_OP_STOP"


def test_slots_say_where_input_and_output_lie(compiled, digits_graph):
    network = compiled("ethos-u55-32")
    (source,), (result,) = network.inputs, network.outputs
    assert (source.name, source.shape, source.dtype, source.size) == ("input", (1, 8, 8, 1), "int8", 64)
    assert (result.name, result.shape, result.dtype, result.size) == ("logits", (1, 10), "int8", 10)
    assert (result.scale, result.zero_point) == (
        digits_graph.tensors[-1].scale,
        digits_graph.tensors[-1].zero_point,
    )
    operations = list(npu_operations(network.commands))
    assert operations[0].registers["IFM_BASE0"] == source.offset
    assert operations[0].registers["IFM_REGION"] == source.region
    assert operations[-1].registers["OFM_BASE0"] == result.offset
    assert operations[-1].registers["OFM_REGION"] == result.region


def test_digits_uses_both_formats_and_both_weight_orders(compiled):
    registers = [o.registers for o in npu_operations(compiled("ethos-u55-32").commands)]
    assert {r["IFM_PRECISION"] >> 6 & 3 for r in registers} == {0, 1}
    assert {r["OFM_PRECISION"] >> 6 & 3 for r in registers} == {0, 1}
    assert {r["KERNEL_STRIDE"] >> 2 & 1 for r in registers} == {0, 1}


@pytest.mark.parametrize("accelerator", vela.ACCELERATORS)
def test_constants_have_their_true_length(compiled, accelerator):
    """Every weight and scale stream lies within the constants, and the last one ends where they end."""
    network = compiled(accelerator)
    ends = [
        r[f"{kind}_BASE"] + r[f"{kind}_LENGTH"]
        for r in (o.registers for o in npu_operations(network.commands))
        for kind in ("WEIGHT", "SCALE")
        if r[f"{kind}_REGION"] == 0
    ]
    assert max(ends) == len(network.constants) == network.region_sizes[0]


def test_scale_stream_holds_the_reference_multipliers(compiled, digits_graph):
    """Vela derives bias, scale and shift itself; they have to be those that the reference multiplies with."""
    network = compiled("ethos-u55-32")
    layers = [o for o in digits_graph.operators if o.kind != "RESHAPE"]
    for layer, operation in zip(layers, npu_operations(network.commands), strict=True):
        source, weights, bias = (digits_graph.tensors[i] for i in layer.inputs)
        output = digits_graph.tensors[layer.outputs[0]]
        scales = np.broadcast_to(weights.quantisation.scale, bias.shape)
        for channel, scale in enumerate(scales.tolist()):
            product = source.scale * scale
            if layer.kind == "FULLY_CONNECTED":
                product = float(np.float32(source.scale) * np.float32(scale))
            start = operation.registers["SCALE_BASE"] + 10 * channel
            record = network.constants[start : start + 10]
            multiplier, shift = quantize_multiplier(product / output.scale)
            assert int.from_bytes(record[:5], "little", signed=True) == int(bias.data[channel])
            assert int.from_bytes(record[5:9], "little") == multiplier
            assert record[9] & 0x3F == 31 - shift


def test_cycles_and_macs_of_networks_from_elsewhere(model):
    network = compile_network(model, "ethos-u55-32")
    assert sum(o.vela_cycles for o in network.operations) == network.vela_total_cycles
    assert (
        network.vela_total_cycles == {"pretrainedResnet_quant": 705_368, "kws_ref_model": 266_947}[model.stem]
    )
    assert (
        sum(o.macs for o in network.operations)
        == {
            "pretrainedResnet_quant": 12_501_632,
            "kws_ref_model": 2_656_768,
        }[model.stem]
    )


def test_a_layer_that_takes_several_operations_shares_its_cycles(tmp_path):
    """Vela cuts the weights of this layer so that it can fetch one part while the NPU works on another."""
    generator = np.random.default_rng(1)
    weights = generator.normal(size=(64, 10, 4, 1))
    layer = FloatLayer("wide", "CONV_2D", weights, np.zeros(64), Window((10, 4), (2, 2), "SAME"))
    network = FloatNetwork("network", (49, 10, 1), (layer,))
    path = tmp_path / "network.tflite"
    write_network(quantise(network, generator.normal(size=(4, 49, 10, 1))), path)
    compiled = compile_network(path, "ethos-u55-32", cache_dir=tmp_path)
    assert [o.name for o in compiled.operations] == ["wide", "wide"]
    assert [o.macs for o in compiled.operations] == [25 * 5 * 40 * 16, 25 * 5 * 40 * 48]
    one, other = (o.vela_cycles for o in compiled.operations)
    assert one + other == compiled.vela_total_cycles
    assert abs(other - 3 * one) <= 3
    assert sum(c.mnemonic == "NPU_OP_DMA_START" for c in commands(compiled.commands)) >= 2


def two_inputs(order: tuple[int, int]) -> Graph:
    quantisation = Quantisation((0.05,), (3,))
    tensors = (
        Tensor("small", (1, 1, 1, 8), "int8", quantisation),
        Tensor("big", (1, 4, 4, 8), "int8", quantisation),
        Tensor("sum", (1, 4, 4, 8), "int8", Quantisation((0.1,), (0,))),
    )
    options = {"fused_activation_function": "NONE"}
    return Graph(tensors, (Operator("ADD", (1, 0), (2,), options, "AddOptions", 2),), order, (2,))


@pytest.mark.parametrize("order", [(0, 1), (1, 0)])
def test_inputs_keep_the_order_of_the_file(tmp_path, order):
    path = tmp_path / "add.tflite"
    write_network(two_inputs(order), path)
    network = compile_network(path, "ethos-u55-128", cache_dir=tmp_path)
    assert [slot.name for slot in network.inputs] == [("small", "big")[i] for i in order]
    (operation,) = npu_operations(network.commands)
    offsets = {slot.name: slot.offset for slot in network.inputs}
    assert operation.registers["IFM_BASE0"] == offsets["big"]
    assert operation.registers["IFM2_BASE0"] == offsets["small"]
    assert network.operations[0].kind == "elementwise"
    assert network.constants == b""


def count_runs(monkeypatch) -> list[str]:
    runs: list[str] = []
    original = vela.run_vela

    def run(network: bytes, accelerator: str, where: str) -> dict[str, bytes]:
        runs.append(accelerator)
        return original(network, accelerator, where)

    monkeypatch.setattr(vela, "run_vela", run)
    return runs


def same(one: CompiledNetwork, other: CompiledNetwork) -> bool:
    ends = [tuple(t.name for t in (*n.ends.inputs, *n.ends.outputs)) for n in (one, other)]
    compared = one.__dict__.keys() - {"commands", "ends"}
    alike = all(one.__dict__[key] == other.__dict__[key] for key in compared)
    return alike and ends[0] == ends[1] and np.array_equal(one.commands, other.commands)


def test_results_come_from_the_cache_and_damaged_ones_are_made_again(tmp_path, digits, monkeypatch):
    runs = count_runs(monkeypatch)
    monkeypatch.setenv("RESIL_CACHE", str(tmp_path / "cache"))
    first = compile_network(digits.path, "ethos-u55-64")
    again = compile_network(str(digits.path), "ethos-u55-64")
    assert same(first, again)
    assert runs == ["ethos-u55-64"]
    (archive,) = (tmp_path / "cache").rglob("*.zip")
    archive.write_bytes(archive.read_bytes()[:-200])
    assert same(first, compile_network(digits.path, "ethos-u55-64"))
    assert len(runs) == 2
    assert zipfile.is_zipfile(archive)
    compile_network(digits.path, "ethos-u55-128")
    assert len(runs) == 3


def test_vela_gives_the_same_files_each_time(digits_bytes):
    one = vela.run_vela(digits_bytes, "ethos-u55-32", "digits")
    other = vela.run_vela(digits_bytes, "ethos-u55-32", "digits")
    for name in ("layers.csv", "summary.csv", "debug.xml"):
        assert one[name] == other[name]
    with np.load(io.BytesIO(one["vela.npz"])) as a, np.load(io.BytesIO(other["vela.npz"])) as b:
        assert a["cmd_data"].tobytes() == b["cmd_data"].tobytes()
        assert a["weight_data"].tobytes() == b["weight_data"].tobytes()


def test_a_cache_that_cannot_be_written_is_reported(tmp_path, digits):
    (tmp_path / "file").write_text("no folder")
    with pytest.raises(NetworkError, match=r"set RESIL_CACHE"):
        compile_network(digits.path, "ethos-u55-32", cache_dir=tmp_path / "file")


def test_an_unknown_accelerator_lists_those_there_are(digits):
    with pytest.raises(NetworkError, match=r"unknown accelerator 'ethos-u55-16'; known are ethos-u55-32, "):
        compile_network(digits.path, "ethos-u55-16")
    with pytest.raises(NetworkError, check=about("accelerator")):
        compile_network(digits.path, "ethos-u65-512")


@pytest.mark.parametrize(("content", "field"), [(None, "file"), (b"text", "identifier")])
def test_an_unreadable_network_is_refused(tmp_path, content, field):
    path = tmp_path / "network.tflite"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(NetworkError, check=about(field)):
        compile_network(path, "ethos-u55-32")


def test_operators_left_to_the_cpu_are_named(tmp_path, digits_graph):
    count = len(digits_graph.tensors)
    extra = Tensor("opinion", (1, 10), "int8", Quantisation((0.1,), (0,)))
    operator = Operator("CUSTOM", digits_graph.outputs, (count,), custom_code="Oracle")
    graph = replace(
        digits_graph,
        tensors=(*digits_graph.tensors, extra),
        operators=(*digits_graph.operators, operator),
        outputs=(count,),
    )
    path = tmp_path / "network.tflite"
    write_network(graph, path)
    with pytest.raises(NetworkError, check=about("operators")):
        compile_network(path, "ethos-u55-32", cache_dir=tmp_path)
    assert not list(tmp_path.rglob("*.zip"))


def test_a_network_without_operators_is_refused(tmp_path):
    path = tmp_path / "empty.tflite"
    write_network(Graph((Tensor("x", (1,), "int8"),), (), (0,), (0,)), path)
    with pytest.raises(NetworkError, check=about("operators")):
        compile_network(path, "ethos-u55-32")


def test_without_vela_the_message_says_how_to_get_it(digits, monkeypatch, tmp_path):
    def absent(name: str) -> str:
        raise vela.importlib.metadata.PackageNotFoundError(name)

    monkeypatch.setattr(vela.importlib.metadata, "version", absent)
    with pytest.raises(NetworkError, match=r"pip install ethos-u-vela==5\.2\.0"):
        compile_network(digits.path, "ethos-u55-32", cache_dir=tmp_path)


def test_a_vela_that_fails_is_quoted(digits_bytes, monkeypatch):
    monkeypatch.setattr(vela, "FLAGS", (*vela.FLAGS, "--memory-mode", "Imaginary"))
    with pytest.raises(NetworkError, check=about("vela")):
        vela.run_vela(digits_bytes, "ethos-u55-32", "digits")


def test_a_vela_that_hangs_is_stopped(digits_bytes, monkeypatch):
    monkeypatch.setattr(vela, "TIME_LIMIT_SECONDS", 0.01)
    with pytest.raises(NetworkError, check=about("vela.time")):
        vela.run_vela(digits_bytes, "ethos-u55-32", "digits")


def test_stream_disassembles_and_assembles_again(compiled):
    stream = compiled("ethos-u55-32").commands
    again = b"".join(encode(c.mnemonic, c.parameter, c.payload) for c in commands(stream))
    assert again == stream.tobytes()
    lines = disassemble(stream).splitlines()
    assert lines[0].endswith("NPU_SET_IFM_REGION 1")
    assert lines[-1].endswith("NPU_OP_STOP 65535")


@pytest.mark.parametrize(
    ("words", "field"), [([0x3FF], "words[0]"), ([0x8000], "words[0]"), ([0x4000], "words[0].payload")]
)
def test_streams_that_are_not_valid_are_refused(words, field):
    with pytest.raises(NetworkError, check=about(field)):
        list(commands(np.array(words, np.uint32)))


@pytest.mark.parametrize(
    ("mnemonic", "payload", "field"),
    [
        ("NPU_OP_DREAM", None, "mnemonic"),
        ("NPU_OP_STOP", 1, "payload"),
        ("NPU_SET_IFM_BASE0", None, "payload"),
    ],
)
def test_commands_that_do_not_exist_are_refused(mnemonic, payload, field):
    with pytest.raises(NetworkError, check=about(field)):
        encode(mnemonic, 0, payload)


@pytest.mark.parametrize(
    ("data", "field"),
    [
        (b"COP2" + bytes(8), "magic"),
        (b"COP1" + bytes(4), "words[1].action"),
        (b"COP1" + bytes([5, 0, 0, 0]), "commands"),
        (b"COP1" + bytes([2, 0, 9, 0]), "length"),
    ],
)
def test_driver_payloads_that_are_not_valid_are_refused(data, field):
    with pytest.raises(NetworkError, check=about(field)):
        parse_driver_payload(data)


def test_long_command_streams_use_the_high_byte_of_the_length():
    data = b"COP1" + bytes([2, 1, 2, 0]) + bytes(4 * 0x10002)
    assert len(parse_driver_payload(data).commands) == 0x10002


def test_a_report_of_another_vela_is_refused():
    with pytest.raises(NetworkError, match=r"install ethos-u-vela==5\.2\.0"):
        parse_report(b"<debug></debug>", b"cycles_total\n5\n")


def test_networks_do_not_load_heavy_libraries_when_imported():
    code = (
        "import sys, resil.networks.compile, resil.networks.zoo, resil.networks.oracle; "
        "print({'torch', 'sklearn', 'tflite_micro'} & set(sys.modules))"
    )
    root = Path(__file__).parents[2]
    done = subprocess.run([sys.executable, "-c", code], cwd=root, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"
