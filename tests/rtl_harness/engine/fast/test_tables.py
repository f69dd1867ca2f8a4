# SPDX-License-Identifier: Apache-2.0
"""A network whose activations are tables in the shared buffer: they matter long after the copy of them."""

import random

import numpy as np
import pytest

from resil.networks.compile import compile_network
from resil.networks.graph import Graph, Operator, Quantisation, Tensor
from resil.networks.tflite_writer import write_network
from resil.rtl_harness.design.elaboration import elaborate
from resil.rtl_harness.design.target import load_target
from resil.rtl_harness.engine.fast.audit_sample import EVERYTHING
from resil.rtl_harness.engine.fast.engine import VerilatorEngine
from resil.rtl_harness.faults import Fault, Seen
from resil.rtl_harness.npu.workload import npu_workload
from tests.rtl_harness.engine.fast.boundaries import flip_at, leaving

SHAPE = (1, 4, 4, 8)
WIDE, TANH, LOGISTIC = ((1 / 20, 3), (1 / 128, 0), (1 / 256, -128))
# Each product goes through the table behind it; the same table of TANH serves three of them.
STEPS = ("TANH", "TANH", "", "TANH", "LOGISTIC")


def tables_network():
    """Products with constants, some followed by TANH or LOGISTIC, which become tables of 256 bytes."""
    choose = np.random.default_rng(8)
    tensors, operators = [Tensor("input", SHAPE, "int8", quantisation(WIDE))], []

    def add(name, scale, data=None):
        tensors.append(Tensor(name, SHAPE, "int8", quantisation(scale), data))
        return len(tensors) - 1

    last = 0
    for number, activation in enumerate(STEPS):
        factors = choose.integers(-128, 128, SHAPE).astype(np.int8)
        constant = add(f"factors{number}", (1 / 40, 0), factors)
        product = add(f"product{number}", WIDE)
        options = {"fused_activation_function": "NONE"}
        operators.append(Operator("MUL", (last, constant), (product,), options, "MulOptions", 2))
        last = product
        if activation:
            last = add(f"mapped{number}", TANH if activation == "TANH" else LOGISTIC)
            operators.append(Operator(activation, (product,), (last,), version=2))
    return Graph(tuple(tensors), tuple(operators), (0,), (last,))


def quantisation(scale):
    return Quantisation((float(np.float32(scale[0])),), (scale[1],))


@pytest.fixture(scope="module")
def parts(tmp_path_factory):
    path = tmp_path_factory.mktemp("tables") / "tables.tflite"
    write_network(tables_network(), path)
    target = load_target("ethos-u55-32")
    values = np.random.default_rng(9).integers(-128, 128, SHAPE, dtype=np.int8)
    workload = npu_workload(compile_network(path, "ethos-u55-32"), values)
    return target, workload, elaborate(target, workload.parameters)


@pytest.fixture
def engine(parts):
    with VerilatorEngine(*parts, sweep=True, audit=EVERYTHING) as made:
        yield made


def table_bytes(engine, place):
    """Return bytes of the shared buffer, by memory, that are not dead when an operation has ended."""
    dead = {int(offset) for offset, _ in engine._golden.exits.boundaries.dead[place]}
    banks = [m for m in engine._model.map.memories if m.path.endswith("u_bank.mem_q")]
    return {bank: [byte for byte in range(bank.size) if bank.offset + byte not in dead] for bank in banks}


def table_faults(engine, number):
    """Faults in rows that hold a table when an operation has ended, from that cycle until the next has."""
    engine.prepare()
    choose, sites, ends = random.Random(3), engine.elaboration.sites, engine.golden().operation_ends
    first = {e.path: offset for e, offset in zip(sites.elements, sites.offsets, strict=False)}
    chosen = set()
    while len(chosen) < number:
        operation = choose.randrange(1, len(ends))
        held = [(bank, byte) for bank, some in table_bytes(engine, operation - 1).items() for byte in some]
        if not held:
            continue
        bank, byte = choose.choice(held)
        row, within = divmod(byte, bank.entry_bytes)
        site = first[bank.path] + row * bank.width + 8 * within + choose.randrange(8)
        chosen.add(Fault(site, choose.randrange(ends[operation - 1], ends[operation])))
    return sorted(chosen)


def test_tables_are_live_between_operations(engine):
    engine.prepare()
    ends = engine.golden().operation_ends
    assert engine.notes == []
    counts = [sum(map(len, table_bytes(engine, place).values())) for place in range(len(ends))]
    assert counts[-1] == 0
    assert sum(count >= 256 for count in counts) >= 3
    assert set(engine._golden.exits.open) == set(range(1, len(ends) + 1))


def test_nothing_leaves_with_a_damaged_table_that_is_needed(engine):
    """The fault: a run whose table is damaged leaves, as if the next operations had a whole one."""
    engine.prepare()
    tried = whole = 0
    for place in range(len(engine.golden().operation_ends) - 1):
        held = [bank.offset + byte for bank, some in table_bytes(engine, place).items() for byte in some[:20]]
        left = leaving(engine, place, [[], *([flip_at(engine, offset, 3)] for offset in held)])
        assert left <= {0}
        tried, whole = tried + len(held), whole + len(left)
    assert tried >= 40
    assert whole >= 2


def test_faults_in_tables_end_as_in_runs_to_the_end(engine):
    faults = table_faults(engine, 160)
    found = list(engine.run(faults))
    assert engine.audited == len(faults)
    assert engine.notes == []
    assert sum(injection.seen is Seen.MASKED for injection in found) < len(found)
    assert len({injection.seen for injection in found}) >= 3


def test_faults_of_all_blocks_end_as_in_runs_to_the_end(parts, engine):
    choose, sites = random.Random(4), parts[2].sites
    chosen = set()
    while len(chosen) < 150:
        element = choose.randrange(len(sites.elements))
        site = choose.randrange(sites.offsets[element], sites.offsets[element + 1])
        chosen.add(Fault(site, choose.randrange(engine.golden().cycles)))
    list(engine.run(sorted(chosen)))
    assert engine.audited == len(chosen)
    assert engine.ends["left"] > 0
