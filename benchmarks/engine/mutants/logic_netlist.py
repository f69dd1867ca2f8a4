# SPDX-License-Identifier: Apache-2.0
"""Mutants of what makes faults in logic of a netlist, of pulses, and of lists and safety rows of logic."""

from __future__ import annotations

from benchmarks.engine.mutants.edits import Edit, Mutant, MutantCampaign

PULSES_CPP = "rtl_harness/engine/fast/native/net_pulses.cpp"
LOGIC = "rtl_harness/logic"
TESTS = "tests/rtl_harness/logic"
NETLIST_PULSES = f"{TESTS}/test_pulses.py::test_pulses_are_as_in_the_netlist"
STUCK = f"{TESTS}/test_stuck.py"
NETLIST = f"{TESTS}/test_netlist_target.py"
TREES = f"{TESTS}/test_clock_trees.py"
CLASSES = f"{TESTS}/test_collapse.py"
REASONS = f"{TESTS}/test_untestable.py"
LISTS = "tests/resil/lists"
ROWS = "tests/resil/results"


def _mutant(
    name: str,
    breaks: str,
    file: str,
    old: str,
    new: str,
    *tests: str,
    campaign: MutantCampaign | None = MutantCampaign.LOGIC,
) -> Mutant:
    return Mutant(name, breaks, (Edit(file, old, new),), tests, campaign)


def _of_results(name: str, breaks: str, file: str, old: str, new: str, *tests: str) -> Mutant:
    """Return a mutant of what is made of answers, which are as they were."""
    return _mutant(name, breaks, file, old, new, *tests, campaign=None)


PULSES = (
    _mutant(
        "pulse-without-alarms",
        "alarms have in the cycle of a pulse what they have without it",
        PULSES_CPP,
        "void NetPulses::finish(PulseEffect& effect) {\n"
        "  for (const AlarmNet& a : network_.alarms) effect.alarms |= uint64_t{value(a.net)} << a.alarm;",
        "void NetPulses::finish(PulseEffect& effect) {\n"
        "  for (const AlarmNet& a : network_.alarms) effect.alarms |= uint64_t{golden(a.net)} << a.alarm;",
        f"{TESTS}/test_pulses.py::test_an_alarm_that_a_pulse_raises_is_of_its_cycle",
    ),
    _mutant(
        "pulse-writes-nowhere-else",
        "a word that is written because of a pulse alone is left out",
        PULSES_CPP,
        "if (faulty) written.push_back(address(port));",
        "(void)faulty;",
        NETLIST_PULSES,
    ),
    _mutant(
        "pulse-rereads-nothing",
        "a read whose address a pulse changes gives the word that is read without it",
        PULSES_CPP,
        "const char* const found = window_.contents(port.memory, address(port), place_);",
        "const char* const found = window_.contents(port.memory, window_.address(port, place_), place_);",
        NETLIST_PULSES,
    ),
    _mutant(
        "pulse-outlives-a-reset",
        "a register keeps what it has taken of a pulse though its reset acts in the next cycle",
        PULSES_CPP,
        "if (active(f, window_.golden(f.load).at(after))) continue;",
        "",
        NETLIST_PULSES,
    ),
    _mutant(
        "pulse-holds-no-reset-back",
        "a reset of the next cycle acts though what makes it has taken a pulse",
        PULSES_CPP,
        "if (resets && !ends) release(differing);",
        "(void)resets;",
        NETLIST_PULSES,
    ),
    _mutant(
        "pulse-ends-nothing",
        "a pulse at the net that says that the run is over ends no run",
        PULSES_CPP,
        "flags_ |= kPulseDone;",
        "",
        NETLIST_PULSES,
    ),
)

HOLDING = (
    _mutant(
        "clock-held-by-level",
        "a gated clock that is held at 1 runs",
        f"{LOGIC}/held_pins.py",
        "return (HeldPin(NET, int(self._clock_cells[cell]), 0),)",
        "return (HeldPin(NET, int(self._clock_cells[cell]), value),)",
        f"{NETLIST}::test_each_output_of_a_flip_flop_and_of_a_clock_gate_is_held_by_itself",
    ),
    _mutant(
        "reset-held-late",
        "a reset that is held active acts with the first edge",
        f"{LOGIC}/held_pins.py",
        "if sets == self._state[at]:",
        "if sets >= 0:",
        f"{STUCK}::test_a_reset_that_acts_for_ever_keeps_what_it_sets_from_the_beginning",
    ),
    _mutant(
        "forward-past-others",
        "a pin stands for the output of a gate that it decides though flip-flops take it too",
        f"{LOGIC}/held_pins.py",
        "counts[others] += 2",
        "counts[others] += 0",
        f"{STUCK}::test_classes_of_equal_faults_are_simulated_once_and_all_answered",
    ),
    _mutant(
        "held-output-is-stored",
        "a flip-flop behind a clock gate stores its held output while its clock stands still",
        f"{LOGIC}/held_pins.py",
        "return (HeldPin(NET, net, value), *self._stored_again.get(net, ()))",
        "return (HeldPin(NET, net, value),)",
        f"{STUCK}::test_a_gated_flip_flop_whose_output_is_held_stores_what_it_has_taken",
    ),
    _mutant(
        "unclocked-forgets",
        "a flip-flop whose clock is held takes the value at which that is",
        f"{LOGIC}/held_pins.py",
        "return (HeldPin(DATA, at, int(self._state[at])),)",
        "return (HeldPin(DATA, at, value),)",
        f"{STUCK}::test_a_clock_that_stands_still_keeps_what_a_flip_flop_holds",
    ),
)

BUILDING = (
    _mutant(
        "two-outputs-one-net",
        "both outputs of a flip-flop are held where one is",
        f"{LOGIC}/build.py",
        "elif len(outputs) > 1 or fed_back:",
        "elif fed_back:",
        f"{NETLIST}::test_each_output_of_a_flip_flop_and_of_a_clock_gate_is_held_by_itself",
    ),
    _mutant(
        "gate-looks-late",
        "a clock gate of the falling edge looks at its enable before the rising one",
        f"{LOGIC}/build.py",
        "return bit is not None and self.clocks.edge(bit, True)[1]",
        "return bit is not None",
        f"{TREES}::test_a_gate_of_the_falling_edge_takes_its_enable_before_that",
    ),
    _mutant(
        "early-flip-flop-has-sites",
        "a flip-flop that the falling edge takes before the first cycle has sites",
        f"{LOGIC}/build.py",
        "if self.clocks.early.intersection(cell.outputs[pin] for pin in outputs):",
        "if not outputs:",
        f"{TESTS}/test_random_cores.py::test_what_depends_on_the_falling_edge_is_as_in_the_netlist",
    ),
)

CLOCKS = (
    _mutant(
        "inverter-of-a-clock",
        "an inverter in a clock's tree changes no edge",
        f"{LOGIC}/clocks.py",
        "rising, bit = rising != own.inverts, own.clock",
        "bit = own.clock",
        f"{TREES}::test_registers_behind_a_tree_have_the_sites_that_they_have_without",
    ),
    _mutant(
        "gated-clock-as-data",
        "a gated clock that is used as data is taken for what lets it run",
        f"{LOGIC}/clocks.py",
        "            if bit in found and own.is_gate:\n",
        "            if bit in found and own.is_gate and own.inverts:\n",
        f"{TREES}::test_what_gates_cannot_say_of_a_gated_clock_is_refused",
    ),
)

_JOINED = "            if net > 1"

COLLAPSING = (
    _mutant(
        "branches-are-one",
        "a stuck branch is the same as the stuck net of several",
        f"{LOGIC}/collapse.py",
        f"{_JOINED} and uses[net] == 1 and net not in stored:\n                joined.join(2 * net,",
        f"{_JOINED} and net not in stored:\n                joined.join(2 * net,",
        f"{CLASSES}::test_stuck_pins_of_a_class_do_the_same_in_every_state",
    ),
    _mutant(
        "stored-is-no-class",
        "a stuck output of a flip-flop, which counts as stored, is the same as the stuck pin behind it",
        f"{LOGIC}/collapse.py",
        f"{_JOINED} and uses[net] == 1 and net not in stored:\n                joined.join(2 * net,",
        f"{_JOINED} and uses[net] == 1:\n                joined.join(2 * net,",
        "benchmarks/logic/test_circuits.py::test_a_circuit_that_stores_has_the_textbooks_classes_and_its_own",
    ),
    _mutant(
        "pulse-of-several",
        "a pulse at a net of several gates is the one that lies behind one of them",
        f"{LOGIC}/collapse.py",
        "            if net > 1 and uses[net] == 1:\n                joined.join(net, y)",
        "            if net > 1:\n                joined.join(net, y)",
        f"{CLASSES}::test_pulses_of_a_class_do_the_same_in_every_state",
    ),
)

UNTESTABLE = (
    _mutant(
        "exit-leads-nowhere",
        "what leaves the design, and this bench does not take, has no path",
        f"{LOGIC}/untestable.py",
        "(reaches | leading_to(netlist, netlist.exits.tolist())).tobytes()",
        "reaches.tobytes()",
        f"{REASONS}::test_what_the_bench_leaves_open_is_no_end_of_the_design",
    ),
    _mutant(
        "constant-at-either",
        "a pin that is constant cannot be tested at the other value either",
        f"{LOGIC}/untestable.py",
        "self._constant.get(pin) == value:",
        "self._constant.get(pin) is not None:",
        f"{REASONS}::test_what_the_design_ties_is_constant_whatever_runs",
    ),
    _mutant(
        "bridge-to-a-still-net",
        "a bridge is unexcited where one of its nets stands still",
        f"{LOGIC}/untestable.py",
        "return self._values[pin.at] | self._values[pin.column] == 3",
        "return self._values[pin.at] & self._values[pin.column] == 3",
        f"{REASONS}::test_reasons_of_open_inputs_and_of_bridges",
    ),
    _mutant(
        "tied-row-of-another",
        "what a flip-flop is tied to is taken for an operand of the gate of the same number",
        f"{LOGIC}/structure.py",
        '        if pins["consumer"][pin] == TO_GATE\n',
        "",
        f"{REASONS}::test_what_a_flip_flop_is_tied_to_is_no_operand_of_the_gate_of_the_same_number",
    ),
    _mutant(
        "memory-leads-nowhere",
        "what is written to a memory leads to nothing that is read of it",
        f"{LOGIC}/structure.py",
        "made_of[net] = [*address, gates.nets + memory]",
        "made_of[net] = [*address]",
        f"{REASONS}::test_what_is_written_to_a_memory_leads_to_what_is_read_of_it",
    ),
)

LISTING = (
    _of_results(
        "unexcited-is-structural",
        "what this input alone does not excite is said to be untestable whatever runs",
        "resil/lists/statuses.py",
        "return UNTESTABLE if Untestable(untestable).is_structural else FUNCTIONALLY_UNTESTABLE",
        "return UNTESTABLE",
        f"{LISTS}/test_lists.py::test_what_nothing_can_come_of_is_said_with_the_reason",
    ),
    _of_results(
        "no-site-is-untestable",
        "a cell that no engine follows, whose faults may do anything, is said to be untestable",
        "resil/lists/statuses.py",
        "return (NOT_ATTEMPTED, hardware) if reason is None",
        "return (UNTESTABLE, hardware) if reason is None",
        f"{LISTS}/test_lists.py::test_what_nothing_can_come_of_is_said_with_the_reason",
    ),
    _of_results(
        "list-weighs-alike",
        "each line of a run's list stands for one fault, however many it was drawn from",
        "resil/lists/of_run.py",
        "each = np.array(run.drawn.strata.sizes, float) / np.maximum(run.drawn.injections, 1)",
        "each = np.ones(len(run.drawn.strata.sizes))",
        f"{LISTS}/test_of_run.py::test_every_injection_has_its_status_and_weights_add_up",
    ),
    _of_results(
        "mark-stays",
        "names of nets keep the mark that CSV files have before what begins as a formula does",
        f"{LOGIC}/bridges.py",
        "read_cell(v.strip())",
        "v.strip()",
        f"{TESTS}/test_opens_and_bridges.py::test_a_list_of_pairs_is_read_with_types_and_weights",
    ),
)

SAFETY = (
    _of_results(
        "storage-for-logic",
        "a run into storage of a block stands for its logic",
        "resil/results/named_runs.py",
        "(own for own in found.summary.strata if own.kind == LOGIC)",
        "found.summary.strata",
        f"{ROWS}/test_named_runs.py::test_storage_that_was_struck_does_not_stand_for_the_logic_of_its_block",
    ),
    _of_results(
        "refused-run-is-none",
        "a run of pulses that is refused leaves the rows as they are without one",
        "resil/results/safety_rows.py",
        "if isinstance(logic, str) and logic:\n            return not_assessed(",
        "if logic is None:\n            return not_assessed(",
        f"{ROWS}/test_logic_rows.py::test_a_run_of_pulses_that_is_refused_leaves_no_transient_row_assessed",
    ),
    _of_results(
        "two-netlists",
        "rates of cells of two libraries are added",
        "resil/results/named_runs.py",
        "    if other is not None:\n        raise StoreError(\n"
        '            f"{found.path}: expected the netlist of',
        "    if other == '':\n        raise StoreError(\n"
        '            f"{found.path}: expected the netlist of',
        f"{ROWS}/test_named_runs.py::test_rates_in_logic_are_added_only_to_those_of_the_same",
    ),
    _of_results(
        "mechanisms-of-storage-alone",
        "of mechanisms with stuck bits and stuck pins the bits alone may be latent",
        "resil/results/named_run.py",
        "both = own.joined(other) if own is not None and other is not None else own or other",
        "both = own or other",
        f"{ROWS}/test_logic_rows.py::test_permanent_rows_sum_stuck_bits_and_stuck_pins",
    ),
    _of_results(
        "gates-are-never-latent",
        "the upper limit of what is latent in mechanisms leaves out their gates",
        "stats/safety.py",
        "latent.hi + more.hi, confidence",
        "latent.hi, confidence",
        f"{ROWS}/test_pair_evidence.py::test_the_row_takes_gates_by_pairs_and_storage_as_before",
    ),
)

MODELS = tuple(
    _of_results(name, breaks, f"rtl_harness/design/{file}", old, new, f"tests/rtl_harness/logic/{test}")
    for name, breaks, file, old, new, test in (
        (
            "table-edges-before-levels",
            "rows with an edge go before those without",
            "primitive_tables.py",
            "return self._at_edge(pin, values, stored) if found is _NO_ROW else found",
            "edge = self._at_edge(pin, values, stored)\n        return found if edge is None else edge",
            "test_cell_library.py::test_functions_are_as_a_library_has_them",
        ),
        (
            "table-from-everywhere",
            "states that a table cannot come to are looked at",
            "primitive_tables.py",
            "found or {",
            "{",
            "test_cell_library.py::test_what_is_derived_does_what_the_models_do_in_an_untouched_simulator",
        ),
        (
            "table-falls-for-rises",
            "a falling edge is taken for a rising one",
            "primitive_tables.py",
            "{'pos' if rises else 'neg'}",
            "{'neg' if rises else 'pos'}",
            "test_cell_library.py::test_what_is_derived_does_what_the_models_do_in_an_untouched_simulator",
        ),
        (
            "table-moving-notifiers",
            "an input whose edges a table leaves out is taken for a notifier",
            "primitive_tables.py",
            "self._require_still_notifiers()\n",
            "\n",
            "test_cell_library.py::test_what_is_not_understood_is_named_once_each_with_the_reason",
        ),
        (
            "drivers-unseen",
            "of several drivers of a net the last one is believed",
            "cell_library.py",
            "name not in modules:",
            "name:",
            "test_cell_library.py::test_what_is_not_understood_is_named_once_each_with_the_reason",
        ),
    )
)

LOGIC_NETLIST = (
    *PULSES,
    *HOLDING,
    *BUILDING,
    *CLOCKS,
    *COLLAPSING,
    *UNTESTABLE,
    *LISTING,
    *SAFETY,
    *MODELS,
)
