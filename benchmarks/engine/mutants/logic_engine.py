# SPDX-License-Identifier: Apache-2.0
"""Mutants of the engine of logic, which follows many machines with held and open pins and bridges at once."""

from __future__ import annotations

from benchmarks.engine.mutants.edits import Edit, Mutant, MutantCampaign

CPP = "rtl_harness/engine/logic/native"
SMALL = "tests/rtl_harness/engine/logic/test_simulator.py"
PINS = f"{SMALL}::test_every_pin_alone_ends_as_machines_one_by_one"
UPSETS = f"{SMALL}::test_upsets_alone_and_with_held_pins_end_as_machines_one_by_one"
TIMES = f"{SMALL}::test_time_outs_of_operations_and_ends_at_detection"
OPENS = f"{SMALL}::test_open_inputs_and_bridges_of_random_circuits_end_as_machines_one_by_one"
PULSES = f"{SMALL}::test_pulses_alone_and_with_held_pins_end_as_machines_one_by_one"


def _mutant(name: str, breaks: str, source: str, old: str, new: str, *tests: str) -> Mutant:
    return Mutant(name, breaks, (Edit(f"{CPP}/{source}", old, new),), tests, MutantCampaign.LOGIC)


OPEN_INPUTS = (
    _mutant(
        "open-keeps-the-first",
        "an output that nothing drives has what it had at the release of reset, not in the cycle before",
        "evaluator.cpp",
        "kept = (kept & ~h.lanes()) | (value(h.at) & h.lanes());",
        "",
        OPENS,
    ),
    _mutant(
        "open-is-no-state",
        "a machine goes round for ever though an output without a driver has kept something else",
        "regroup.cpp",
        "same &= ~(kept_[slot] ^ (slot < then.kept.size() ? then.kept[slot] : Lanes{}));",
        "",
        f"{SMALL}::test_open_inputs_that_set_one_another_are_in_no_loop_before_all_are_set",
    ),
    _mutant(
        "open-moved-without",
        "a machine that is put together with others loses what its output without a driver had",
        "regroup.cpp",
        "if (slot < from.kept_.size()) kept_[slot] |= moved(from.kept_[slot]);",
        "",
        OPENS,
    ),
    _mutant(
        "open-looked-at-once",
        "an output that nothing may drive is evaluated only where an input of its gate has changed",
        "evaluator.cpp",
        "if (any(h.lanes()) && design_.driver[h.at] >= 0) mark(regions_.region_of[design_.driver[h.at]]);",
        "",
        f"{SMALL}::test_an_open_input_behind_which_another_input_changes_drives_again",
    ),
    _mutant(
        "open-in-one-gate",
        "of a cell of several gates, those behind the open input take what they took without it",
        "evaluator.cpp",
        "if (known == net) found = own;",
        "",
        OPENS,
    ),
    _mutant(
        "open-never-excited",
        "an open input counts as never excited where its net never was what it is open at",
        "simulator.cpp",
        "net = operand(pin.column / 4, pin.column % 4);",
        "return golden.had(operand(pin.column / 4, pin.column % 4), pin.value);",
        OPENS,
    ),
)

BRIDGES = (
    _mutant(
        "bridge-without-a-sweep",
        "what bridged nets drive is not evaluated again once they have changed one another",
        "evaluator.cpp",
        "if (dynamic_.empty() || !bridge()) return;",
        "if (!dynamic_.empty()) bridge();\n    return;",
        OPENS,
    ),
    _mutant(
        "wired-to-what-is-there",
        "a wired net is given what the other one has, which is not what that one is driven to",
        "evaluator.cpp",
        "mate_[at] == kNoMate ? this->value(h.column) : driven_[mate_[at]];",
        "this->value(h.column);",
        OPENS,
    ),
    _mutant(
        "wired-and-is-or",
        "a wired AND is a wired OR",
        "evaluator.cpp",
        "(driven_[at] & other & h.zero)",
        "((driven_[at] | other) & h.zero)",
        OPENS,
    ),
    _mutant(
        "bridge-to-a-constant",
        "a bridge counts as never excited where one of its nets stands still",
        "simulator.cpp",
        "return !always(false) && !always(true);",
        "return golden.had(pin.at, false) && golden.had(pin.at, true);",
        OPENS,
    ),
)

HOLDING = (
    _mutant(
        "held-register-is-not-followed",
        "a register whose output is held does not change its difference with the golden run",
        "evaluator.cpp",
        "for (const Stored& s : next_) store(s.flip_flop, s.d);\n  set_held_sources();",
        "for (const Stored& s : next_) store(s.flip_flop, s.d);",
        PINS,
    ),
    _mutant(
        "held-net-is-not-involved",
        "a gate with a held output is not evaluated again where the golden run changes its inputs",
        "evaluator.cpp",
        "if (!any(ds | da | db) && !has_bit(is_held_, g.y)) clear_bit(involved_, i);",
        "if (!any(ds | da | db)) clear_bit(involved_, i);",
        PINS,
    ),
    _mutant(
        "load-of-the-golden-run",
        "a register keeps its difference where a load acts in the golden run alone",
        "evaluator.cpp",
        "dense |= Golden::bit(next, l.net) == (l.active != 0);",
        "(void)l;",
        f"{SMALL}::test_a_load_that_acts_in_the_golden_run_alone_is_not_taken_over",
    ),
    _mutant(
        "only-what-is-reached",
        "an upset of storage that nothing observes is not compared with the golden run's end",
        "simulator.cpp",
        "reached |= compared || reaches[fed(pin)];",
        "reached |= reaches[fed(pin)];",
        UPSETS,
    ),
    _mutant(
        "pulse-without-an-end",
        "a pulse inverts its net in all later cycles too",
        "evaluator.cpp",
        "static_cast<uint64_t>(h.column) == r_ ?",
        "static_cast<uint64_t>(h.column) <= r_ ?",
        PULSES,
    ),
)

MEMORIES = (
    _mutant(
        "written-where-it-is-not",
        "a word that the golden run writes is equal also in a machine that has written elsewhere",
        "group.cpp",
        "block[i] = (e.differs(data[i]) & ~alone & live_) | (kept & alone);",
        "block[i] = e.differs(data[i]) & ~alone & live_;",
        PINS,
    ),
    _mutant(
        "read-elsewhere-as-golden",
        "a machine that reads another word reads what the golden run has there",
        "evaluator.cpp",
        "if (block) other ^= block[i];",
        "",
        PINS,
    ),
    _mutant(
        "read-once",
        "a word that has been written or struck is not read again while its address stands still",
        "evaluator.cpp",
        "(written >> memory & 1) || ",
        "",
        f"{SMALL}::test_a_word_that_is_struck_while_it_is_read_is_read_anew",
    ),
    _mutant(
        "left-in-memory",
        "a machine's memory is compared only where the golden run's is as in its end",
        "ends.cpp",
        "found |= block[i] ^ spread(bit(&now[word * size], i) != bit(&last[word * size], i));",
        "if (now == last) found |= block[i];",
        UPSETS,
    ),
)

LOOPS = (
    _mutant(
        "loop-before-an-upset",
        "a machine that is still to be struck goes round for ever",
        "regroup.cpp",
        "for (const Upset& upset : upsets_) clear_lane(same, upset.machine);",
        "",
        f"{SMALL}::test_a_machine_that_is_still_to_be_struck_is_in_no_loop",
    ),
    _mutant(
        "loop-that-writes",
        "a machine that has written memory goes round for ever",
        "regroup.cpp",
        "Lanes same = then.valid & live_ & ~wrote_;",
        "Lanes same = then.valid & live_;",
        f"{SMALL}::test_a_machine_whose_memory_counts_is_in_no_loop",
    ),
    _mutant(
        "loop-of-differences",
        "a machine is in a loop whose difference with the golden run is the same, though that goes on",
        "regroup.cpp",
        "if (!any(same) || met != moved) return;",
        "if (!any(same)) return;",
        PINS,
    ),
    _mutant(
        "loop-without-a-time-out",
        "a machine in a loop in which no operation ends goes on to the limit, not to its time-out",
        "regroup.cpp",
        "if (still) last = m.stop;",
        "",
        f"{SMALL}::test_a_loop_in_which_no_operation_ends_runs_into_its_time_out",
    ),
)

WATCHING = (
    _mutant(
        "alarm-of-the-golden-run",
        "an alarm that rises without a fault detects faults",
        "ends.cpp",
        "if (c.usual & alarm) continue;",
        "",
        TIMES,
    ),
    _mutant(
        "alarm-again",
        "the last cycle of an alarm is taken for its first",
        "ends.cpp",
        "each_lane(up & ~detected_, [&](unsigned i) {",
        "each_lane(up, [&](unsigned i) {",
        PINS,
    ),
    _mutant(
        "moved-without-its-operation",
        "a machine that is put together with others starts with the operations of the one before it",
        "regroup.cpp",
        "operation_[i] = (operation_[i] & ~own) | moved(from.operation_[i]);",
        "operation_[i] |= moved(from.operation_[i]);",
        TIMES,
    ),
)

LOGIC_ENGINE = (*OPEN_INPUTS, *BRIDGES, *HOLDING, *MEMORIES, *LOOPS, *WATCHING)
