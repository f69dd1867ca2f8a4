# SPDX-License-Identifier: Apache-2.0
"""Mutants of the fast engine: small edits, each with what it breaks and the tests that notice it."""

from __future__ import annotations

from dataclasses import replace

from benchmarks.engine.mutants.edits import Edit, Mutant, MutantCampaign

CPP = "rtl_harness/engine/fast/native"
PY = "rtl_harness/engine/fast"
TESTS = "tests/rtl_harness/engine"
FAST = f"{TESTS}/fast"

STALL = f"{FAST}/test_stall.py"
FAR = f"{FAST}/test_large_memory.py::test_early_stops_see_all_of_the_memory"
SOUGHT = f"{FAST}/native/test_injector.py::test_memories_are_those_of_a_plain_run_in_any_cycle"
LATE = f"{STALL}::test_a_run_that_comes_too_late_is_a_hang"
BEHIND = f"{STALL}::test_the_same_difference_at_another_distance_is_another_run"
ALONE = f"{STALL}::test_what_goes_on_in_a_memory_alone_is_no_hang"
TRIALS = f"{FAST}/test_audit_trials.py"
UNSETTLED = f"{FAST}/test_unsettled.py"
HISTORIES = f"{TESTS}/test_histories.py"
AWKWARD = f"{FAST}/test_engine.py::test_each_shortcut_gives_what_a_run_to_the_end_gives"
LEAVE = f"{FAST}/test_exits.py::test_runs_that_leave_end_as_in_the_rtl"
COPY = f"{FAST}/test_exits.py::test_runs_leave_while_a_copy_is_under_way"
TURNED = f"{FAST}/test_exits.py::test_runs_leave_with_queues_that_are_turned"
SEARCH = f"{FAST}/test_liveness.py"
DEAD = f"{FAST}/test_exits.py::test_storage_that_is_wrongly_called_dead_is_found_out"
CLOSED = f"{FAST}/test_exits.py::test_nothing_leaves_where_model_and_rtl_differ"
CORRUPTION = f"{FAST}/test_exits.py::test_a_corruption_is_all_that_it_takes"
LATE_LEAVE = f"{FAST}/test_exits.py::test_a_run_that_would_leave_and_end_too_late_is_a_hang"
WORDS = f"{FAST}/gates/test_memory_words.py"
LANES = f"{FAST}/lanes/test_machines.py"
TABLES = f"{FAST}/test_tables.py"
BOUNDARIES = f"{FAST}/test_boundary.py"
BEYOND = f"{LANES}::test_what_is_selected_beyond_an_end_is_left_to_the_simulator"
CROWD = f"{LANES}::test_a_campaign_ends_as_without_lanes"
IN_LANES = f"{LANES}::test_alarms_that_rise_in_lanes_are_told_in_their_cycle"
ADDRESS = f"{FAST}/test_write_address.py"
WAITING = f"{UNSETTLED}::test_runs_with_wrong_weights_that_wait_do_not_leave"
STALE = f"{FAST}/test_exits.py::test_stale_storage_decides_where_the_memory_is_golden_again"
TIMEOUT = f"{TESTS}/test_timeout.py"
TWICE = f"{TESTS}/test_twice.py::test_shortcuts_give_what_runs_to_the_end_give"
ON_TIME = f"{TIMEOUT}::test_shortcuts_give_what_runs_to_the_end_give"
LAST_OPERATION = f"{TIMEOUT}::test_runs_that_differ_in_their_last_operation_alone_are_not_merged"
RESTARTED = f"{TIMEOUT}::test_lanes"
AT_DETECTION = f"{TESTS}/test_alarms.py::test_runs_end_at_detection_as_whole_runs_told"
LANES_AT_DETECTION = f"{LANES}::test_runs_in_lanes_end_at_detection"
HELD = f"{FAST}/lanes/test_held.py"
HELD_ALIKE = f"{HELD}::test_stuck_bits_end_as_by_themselves"


def _mutant(name: str, breaks: str, file: str, old: str, new: str, *tests: str) -> Mutant:
    lanes = any(test.startswith(LANES) for test in tests)
    campaign = MutantCampaign.LANES if lanes else MutantCampaign.PLAIN
    return Mutant(name, breaks, (Edit(file, old, new),), tests, campaign)


_END = "static_cast<int64_t>(sweep_.golden().length()) + shift"
_RETURN_DUE = f"if ({_END} > static_cast<int64_t>(sweep_.limit())) return false;"

BOUNDARY = (
    _mutant(
        "unsettled-ignored",
        "runs leave with bytes that a copy has under way, or with weights that are still to be decoded",
        f"{CPP}/boundary.cpp",
        "return is_settled(byte.offset, i);",
        "return true;",
        UNSETTLED,
    ),
    _mutant(
        "dead-by-byte",
        "a byte of which some bits are dead is dead as a whole",
        f"{CPP}/boundary.cpp",
        " && !(byte.mask & ~found->mask)",
        "",
        f"{BOUNDARIES}::test_of_a_byte_the_dead_bits_alone_are_dead",
    ),
    _mutant(
        "open-ignored",
        "runs leave where model and RTL have not the same memory",
        f"{CPP}/boundary.cpp",
        "return open_[i] && std::all_of",
        "return std::all_of",
        CLOSED,
    ),
    _mutant(
        "queue-not-empty",
        "pointers of a queue may differ while it holds something",
        f"{CPP}/boundary.cpp",
        " || !empty_[i][found->second]",
        "",
        f"{BOUNDARIES}::test_a_queue_that_holds_something_may_not_be_turned",
    ),
    _mutant(
        "queue-half-turned",
        "one pointer of an empty queue may differ alone",
        f"{CPP}/boundary.cpp",
        "return other != d.end() && *other == wanted && pointer(queue, d, i) < queue.values;",
        "return pointer(queue, d, i) < queue.values;",
        TURNED,
    ),
    _mutant(
        "boundary-not-asked",
        "a run leaves when its registers are right, whatever its memories",
        f"{CPP}/model_simulator.cpp",
        "if (!sweep_.boundary().permits(d, *i, sweep_.awaited(job))) return false;",
        "",
        LEAVE,
    ),
    _mutant(
        "left-end-not-shifted",
        "a run that left late ends when the golden run does",
        f"{CPP}/job_ends.cpp",
        "event.end_cycle = sweep_.golden().length() + static_cast<uint64_t>(last_.leave->shift);",
        "event.end_cycle = sweep_.golden().length();",
        LEAVE,
    ),
    _mutant(
        "left-too-late",
        "a run that leaves is finished though it would end after the time-out",
        f"{CPP}/model_simulator.cpp",
        f"{_RETURN_DUE}\n  Difference d;\n  if (!sweep_.boundary",
        "Difference d;\n  if (!sweep_.boundary",
        LATE_LEAVE,
    ),
    _mutant(
        "external-dropped",
        "of what a run leaves with the last byte is forgotten",
        f"{CPP}/boundary.cpp",
        "  return found;\n}\n\nbool Boundary::registers",
        "  if (found.size() > 1) found.pop_back();\n  return found;\n}\n\nbool Boundary::registers",
        LEAVE,
    ),
)

SPENT_TESTS = f"{FAST}/test_spent_alarms.py"
SPENT = (
    _mutant(
        "spent-awaited",
        "a run ends that has an alarm still to raise",
        f"{CPP}/spent_alarms.cpp",
        "if (bytes_[found->second].alarms[std::countr_zero(left)] & awaited) return false;",
        "",
        SPENT_TESTS,
    ),
    _mutant(
        "spent-but-cleared",
        "an alarm that is cleared again counts as one that stays",
        f"{CPP}/alarm_storage.cpp",
        "if (reader.keeps(f, !end)) found",
        "found",
        SPENT_TESTS,
    ),
    Mutant(
        "spent-though-seen",
        "storage that more than alarms depend on counts as what keeps them up",
        (
            Edit(f"{CPP}/alarm_storage.cpp", "return !seen_[f.q] && alarms_[f.q];", "return alarms_[f.q];"),
            Edit(f"{CPP}/alarm_storage.cpp", "net < 2 || seen_[net] || !(more", "net < 2 || !(more"),
        ),
        (SPENT_TESTS,),
    ),
    _mutant(
        "spent-masked",
        "of a run that ends with an alarm up nothing is latent",
        f"{CPP}/job_ends.cpp",
        "event.spent = kind == kVanished && last_.spent;",
        "event.spent = 0;",
        SPENT_TESTS,
    ),
    _mutant(
        "single-spent-awaited",
        "a run by itself rejoins with an alarm still to raise",
        f"{CPP}/faulty_run.cpp",
        "if (spent.alarms() & alarms_.awaited(run.reported)) return false;",
        "",
        SPENT_TESTS,
    ),
    _mutant(
        "spent-forgotten",
        "a run that rejoins has none of its alarms up any more",
        f"{CPP}/model_simulator.cpp",
        "  spent.add_to(d);",
        "",
        SPENT_TESTS,
    ),
    _mutant(
        "detected-from-the-start",
        "what is dead once a fault is detected is dead before",
        f"{CPP}/boundary.cpp",
        "dead_[alarms_.awaits_detection(awaited) ? 0 : 1]",
        "dead_[1]",
        f"{BOUNDARIES}::test_what_is_dead_once_a_fault_is_detected_is_not_dead_before",
    ),
)

MERGES = (
    Mutant(
        "merge-without-shift",
        "runs that are behind by different times are merged",
        (Edit(f"{CPP}/sweep_context.h", "return {job.cycle, job.shift,", "return {job.cycle, 0,"),),
        (BEHIND,),
    ),
    Mutant(
        "merge-without-alarms",
        "runs that have reported different things are merged",
        (Edit(f"{CPP}/sweep_context.h", "pace, awaited(job),", "pace, 0,"),),
        (HISTORIES,),
    ),
    Mutant(
        "merge-by-places",
        "runs with other values in the same bytes are merged",
        (
            Edit(
                f"{CPP}/job.h",
                "bool operator==(const Prospect&) const = default;",
                "bool operator==(const Prospect& p) const {\n"
                "    return cycle == p.cycle && shift == p.shift && d.size() == p.d.size();\n  }",
            ),
            Edit(f"{CPP}/job.h", "(b.offset << 8 ^ b.mask)", "(b.offset << 8)"),
        ),
        (LEAVE, HISTORIES),
    ),
)

REJOINING = (
    _mutant(
        "rejoined-too-late",
        "a run has golden registers again, and counts though its end comes after the time-out",
        f"{CPP}/faulty_run.cpp",
        " || end + faulty_.cycle - edges > limit ? 0",
        " ? 0",
        LATE,
    ),
    _mutant(
        "rejoined-by-registers",
        "alone, a run has the golden registers, and its memories are not compared",
        f"{CPP}/faulty_run.cpp",
        "if (!golden_.memories().equals(faulty_)) return false;",
        "",
        AWKWARD,
        ALONE,
    ),
    _mutant(
        "rejoined-by-registers-in-a-sweep",
        "a run has golden registers of a cycle outside the window, and its memories are not compared",
        f"{CPP}/model_simulator.cpp",
        "!sweep_.golden().memories().equals(faulty) || (spent",
        "(spent",
        AWKWARD,
        ALONE,
    ),
    _mutant(
        "few-bytes",
        "of wrong memory no more than 16 bytes are taken along",
        f"{CPP}/model_simulator.cpp",
        "if (d.size() > kFewBytes) return false;",
        "d.resize(std::min<size_t>(d.size(), 16));",
        LEAVE,
        AWKWARD,
    ),
    _mutant(
        "end-not-shifted",
        "a run that is as the golden one again, but later, ends when that does",
        f"{CPP}/job_ends.cpp",
        "event.end_cycle = sweep_.golden().length() + static_cast<uint64_t>(last_.shift);",
        "event.end_cycle = sweep_.golden().length();",
        LATE,
    ),
    _mutant(
        "milestones",
        "registers are compared with golden ones of another cycle",
        f"{CPP}/golden_history.cpp",
        "? rows_.data() + (i - 1) * row_bytes_",
        "? rows_.data() + (i > 1 ? i - 2 : 0) * row_bytes_",
        LEAVE,
    ),
    _mutant(
        "repetition-by-registers",
        "a run whose registers repeat never ends, whatever goes on in its memories",
        f"{CPP}/repetition.h",
        "if (state->memories == now && same)",
        "if (same)",
        ALONE,
    ),
)

LARGE = (
    _mutant(
        "written-before",
        "what is still open when an instance is given another state counts as not written",
        f"{CPP}/written_blocks.cpp",
        "    for (size_t block = page.first; block <= page.last; ++block) since_.add(block);\n",
        "",
        FAR,
    ),
    _mutant(
        "written-since",
        "a page that is opened counts as not written since the instance was given its state",
        f"{CPP}/written_blocks.cpp",
        "    blocks_.add(block);\n    since_.add(block);\n  }\n}\n\nvoid WrittenBlocks::closed",
        "    blocks_.add(block);\n  }\n}\n\nvoid WrittenBlocks::closed",
        FAR,
    ),
    _mutant(
        "not-read-only",
        "pages count as closed that can be written unseen",
        f"{CPP}/written_blocks.cpp",
        "run.size() * page_bytes(), PROT_READ) == 0",
        "0, PROT_READ) == 0",
        FAR,
    ),
    _mutant(
        "golden-writes",
        "an instance with the memories of one cycle is taken for one with those of another",
        f"{CPP}/golden_history.cpp",
        "changed_between(*written->synced(), edges_)",
        "BlockSet(followed_.memories().blocks())",
        FAR,
    ),
    _mutant(
        "last-stretch",
        "what the golden run has changed in the last stretch between two cycles is left out",
        f"{CPP}/golden_history.cpp",
        "i <= to / kStretch",
        "i < to / kStretch",
        FAR,
    ),
    _mutant(
        "sought",
        "instances are compared and restored as if no other cycle were sought",
        f"{CPP}/golden_history.cpp",
        "  edges_ = edges;\n}\n\nbool MemoryHistory::equals",
        "}\n\nbool MemoryHistory::equals",
        FAR,
    ),
    _mutant(
        "segment-kept",
        "memories of a segment of the golden run are those of its end when one before it is sought",
        f"{CPP}/golden_history.cpp",
        "for (const Change& change : segments_[segment_].whole) apply(change, change.before);",
        "",
        SOUGHT,
    ),
    _mutant(
        "simulated-again-from-elsewhere",
        "a segment of the golden run is simulated again with the registers that the instance has",
        f"{CPP}/golden_run.cpp",
        "    registers_.scatter(row.data(), again_->state());\n",
        "",
        SOUGHT,
    ),
    _mutant(
        "nothing-behind",
        "what lies behind the windows that are gone through backwards counts as what does not matter",
        f"{CPP}/liveness.cpp",
        "if (k + 1 < windows() && !analysed_[k + 1]) slice.need_all();",
        "",
        SEARCH,
    ),
)

SIMULATING = (
    _mutant(
        "not-settled",
        "what depends on the flipped storage is not recomputed",
        f"{CPP}/model_simulator.cpp",
        "edges && !job.fresh ? faulty.settle_quietly() : faulty.settle();",
        "",
        AWKWARD,
        LEAVE,
    ),
    _mutant(
        "alarms-not-latched",
        "alarms that rise while a run is simulated in a sweep are not reported",
        f"{CPP}/model_simulator.cpp",
        "job.reported = run.reported;\n",
        "",
        AWKWARD,
        HISTORIES,
    ),
    _mutant(
        "memories-of-another-cycle",
        "a run goes on with the golden memories of the cycle before",
        f"{CPP}/model_simulator.cpp",
        "memories().seek(job.cycle + 1);\n  sweep_.golden().memories().restore",
        "memories().seek(job.cycle);\n  sweep_.golden().memories().restore",
        AWKWARD,
        LEAVE,
    ),
    _mutant(
        "cluster-loses-a-bit",
        "of a cluster within a byte one bit flips",
        f"{CPP}/sweep.cpp",
        "joined.back().mask |= byte.mask;",
        "joined.back().mask = byte.mask;",
        AWKWARD,
    ),
    _mutant(
        "lane-loses-a-word",
        "a machine begins in a lane without the last word of each memory",
        f"{CPP}/lane_machines.cpp",
        "state + m.offset, m.entry_bytes, m.words);\n  }\n  return true;",
        "state + m.offset, m.entry_bytes, m.words - 1);\n  }\n  return true;",
        CROWD,
    ),
    _mutant(
        "lane-reports-late",
        "an alarm that rises in a lane is reported a cycle late",
        f"{CPP}/lane_slots.cpp",
        "report(slot.job.reported, up[lane], slot.cycle - 1);",
        "report(slot.job.reported, up[lane], slot.cycle);",
        IN_LANES,
    ),
)

UNDEFINED = (
    _mutant(
        "lane-beyond-an-end",
        "a machine that selects beyond the end of an array stays in its lane",
        f"{CPP}/lane_slots.cpp",
        "slot.undefined = seen.undefined >> lane & 1;",
        "slot.undefined = false;",
        BEYOND,
    ),
    _mutant(
        "gates-beyond-an-end",
        "a difference is followed where it makes the design select beyond the end of an array",
        f"{CPP}/network.cpp",
        "for (const int32_t net : undefined) add(net, {kUndefined, 0});",
        "",
        BEYOND,
    ),
)

FOLLOWING = (
    _mutant(
        "select-not-observed",
        "what selects the input of a multiplexer counts as unobserved",
        f"{CPP}/window.cpp",
        "observed_[g->s] |= y;",
        "",
        LEAVE,
    ),
    _mutant(
        "select-unchanged",
        "a gate is not evaluated again where nothing but its select is another one than in the window before",
        f"{CPP}/window.cpp",
        "(changed_[g.a] | changed_[g.b] | changed_[g.s])",
        "(changed_[g.a] | changed_[g.b])",
        LEAVE,
    ),
    _mutant(
        "constant-held",
        "storage with one value in all cycles of a window is taken to have had it in the window before",
        f"{CPP}/window.cpp",
        "if (constant && constant == held_[word]) continue;",
        "if (constant) continue;",
        LEAVE,
    ),
    _mutant(
        "address-not-observed",
        "the address of a write counts as unobserved",
        f"{CPP}/window.cpp",
        "observed_[network_.address(port)[i]] |= writing;",
        "",
        ADDRESS,
    ),
    _mutant(
        "disturbed-ignored",
        "a changed select does not make the other input count",
        f"{CPP}/ripple.cpp",
        "return place <= found ? propagate(d, place, end, true) : found;",
        "return found;",
        AWKWARD,
        LEAVE,
    ),
    _mutant(
        "write-not-seen",
        "a word that only the faulty run writes is forgotten",
        f"{CPP}/ripple.cpp",
        "if (faulty) written.push_back(faulty_address(port, place));",
        "",
        f"{WORDS}::test_every_fault_ends_as_with_a_memory_of_that_size",
    ),
    _mutant(
        "words-forgotten",
        "wrong words of a memory are forgotten when a register changes",
        f"{CPP}/ripple.cpp",
        "if (active_[memory] != stamp_) step_memory(memory, place, d, next);",
        "",
        AWKWARD,
        LEAVE,
    ),
    _mutant(
        "read-not-seen",
        "reads of a wrong word are not looked at",
        f"{CPP}/ripple.cpp",
        "for (const int32_t gate : network_.read_gates[memory]) push(gate);",
        "",
        AWKWARD,
        LEAVE,
    ),
    _mutant(
        "alarm-not-awaited",
        "an alarm that rises along the gates is not seen",
        f"{CPP}/ripple.cpp",
        "if (!(awaited_ >> sink.index & 1)) break;",
        "break;",
        HISTORIES,
    ),
)

PAUSING = (
    _mutant(
        "count-unwatched",
        "along the gates nobody sees that a run has ended its first inference where the golden run has not",
        f"{PY}/watched_gates.py",
        "ports=np.concatenate([gates.ports, counted])",
        "ports=gates.ports",
        TWICE,
    ),
    _mutant(
        "pause-passed",
        "runs are followed along the gates from the first of two inferences into the second",
        f"{CPP}/sweep_context.h",
        "(golden().pause() && !second_ ? golden().pause() : golden().length()) - 1",
        "golden().length() - 1",
        TWICE,
    ),
    _mutant(
        "second-on-the-first-ones-time",
        "a second inference is over time when the first would have been",
        f"{PY}/acceleration.py",
        "model.injector.pause + singles.second_cycles",
        "singles.timeout_cycles",
        TWICE,
    ),
    _mutant(
        "second-not-late",
        "a run whose first inference ended late ends as if it had not",
        f"{PY}/fault_effect.py",
        "end_cycle=end.end_cycle + own.shift",
        "end_cycle=end.end_cycle",
        TWICE,
    ),
    _mutant(
        "told-too-early",
        "a run whose first inference ended late raises the alarms of the second as if it had not",
        f"{PY}/fault_effect.py",
        "cycle=rise.cycle + own.shift",
        "cycle=rise.cycle",
        TWICE,
    ),
)

WATCHDOG = (
    _mutant(
        "rejoined-over-time",
        "a run is as the golden one again, and counts though its operation takes too long",
        f"{CPP}/faulty_run.cpp",
        "if (edges && !watchdog_.on_time(moved, edges, faulty_.cycle)) return 0;",
        "",
        ON_TIME,
    ),
    _mutant(
        "merge-without-pace",
        "runs that have been for other times in their operation are merged",
        f"{CPP}/sweep_context.h",
        "const Pace pace = watchdog().on() ? job.pace : Pace{};",
        "const Pace pace;",
        LAST_OPERATION,
    ),
    _mutant(
        "lane-not-restarted",
        "in a lane no end of an operation restarts the watchdog",
        f"{CPP}/lane_slots.cpp",
        "if (slot.moved && !slot.undefined) slot.job.pace.moved = slot.cycle;",
        "",
        RESTARTED,
    ),
)

DETECTION = (
    _mutant(
        "detection-ends-nothing",
        "a run goes on after an alarm that ends it, in the model",
        f"{CPP}/faulty_run.cpp",
        "if (alarms_.is_enough(run.reported)) return Halt::kDetected;",
        "",
        AT_DETECTION,
    ),
    _mutant(
        "ended-by-a-correction",
        "an alarm that reports a corrected fault ends a run",
        f"{CPP}/alarm_filter.h",
        "return ends_at_detection_ && reported.detected.alarm >= 0;",
        "return ends_at_detection_ && (reported.detected.alarm >= 0 || reported.corrected.alarm >= 0);",
        AT_DETECTION,
    ),
    _mutant(
        "detection-of-any-lane",
        "in lanes runs end as detected that reported nothing",
        f"{CPP}/lane_simulator.cpp",
        "if (sweep_.injector().alarms().is_enough(job.reported)) {",
        "if (sweep_.injector().alarms().is_enough({{0, 0}, {-1, 0}})) {",
        LANES_AT_DETECTION,
    ),
)

PYTHON = (
    _mutant(
        "stale-taken-for-masked",
        "where output and memory are golden, stale storage is not looked at",
        f"{PY}/fault_effect.py",
        "if image is None or image == exits.golden_end:",
        "if image is None:",
        STALE,
    ),
    _mutant(
        "corruption-of-another-operation",
        "a corruption of memory is noted at the operation before",
        f"{PY}/exits.py",
        "operation=found.operation,",
        "operation=max(found.operation - 1, 1),",
        CORRUPTION,
    ),
    _mutant(
        "followers-forget",
        "of merged runs the second does not report what the first reports later",
        f"{PY}/fault_effect.py",
        "result.corrected), effect.alarms)",
        "result.corrected), ())",
        HISTORIES,
    ),
    _mutant(
        "words-not-watched",
        "writes beyond the words of a memory go unnoticed",
        f"{PY}/model.py",
        "for storage in self.map.unused:",
        "for storage in ():",
        WORDS,
    ),
    _mutant(
        "trial-of-the-dead-ignored",
        "storage that is called dead is not tried",
        f"{PY}/exit_trial.py",
        "if run(known.values()) == expected:",
        "if known:",
        DEAD,
    ),
    _mutant(
        "weights-settled",
        "weights that are still to be decoded may differ where a run leaves",
        "rtl_harness/npu/tail.py",
        "unsettled[number] += weights",
        "pass",
        WAITING,
    ),
    _mutant(
        "copies-settled",
        "bytes that a copy has under way may differ where a run leaves",
        "rtl_harness/npu/tail.py",
        "for k in under_way:",
        "for k in ():",
        UNSETTLED,
        COPY,
    ),
)

SEARCHING = (
    _mutant(
        "select-certain",
        "forwards, what selects the input of a multiplexer is known whatever it depends on",
        f"{CPP}/propagation.cpp",
        "return (~r & ((c & q) | (~c & p))) | (r & (p | q | (x ^ z)));",
        "return (c & q) | (~c & p);",
        f"{SEARCH}::test_nothing_that_matters_is_dead",
    ),
    _mutant(
        "uncertain-decides",
        "backwards, a net that depends on external memories decides as in the golden run",
        f"{CPP}/backward_slice.cpp",
        "if ((*uncertain_)[net]) return {};",
        "",
        f"{SEARCH}::test_nothing_that_matters_is_dead",
    ),
    _mutant(
        "read-at-golden-address",
        "a word that is read at an uncertain address is the one that the golden run reads",
        f"{CPP}/backward_slice.cpp",
        "anywhere_[p] = !is_certain(network_.address(port), port.address);",
        "anywhere_[p] = false;",
        f"{SEARCH}::test_nothing_that_matters_is_dead",
    ),
    _mutant(
        "written-at-golden-address",
        "a word that is written at an uncertain address, or perhaps, is overwritten for certain",
        f"{CPP}/backward_slice.cpp",
        "filled_[p][b] = known ? whole : CycleSet{};",
        "filled_[p][b] = whole;",
        f"{SEARCH}::test_what_waits_is_dead_from_its_last_use_to_its_next_value",
    ),
    _mutant(
        "half-a-word-written",
        "a word of which some bytes are written is overwritten",
        f"{CPP}/backward_slice.cpp",
        "filled_[p][i / 8] = both(filled_[p][i / 8], golden);",
        "",
        f"{SEARCH}::test_nothing_that_matters_is_dead",
    ),
    _mutant(
        "not-carried",
        "what matters in the next window does not in this one",
        f"{CPP}/backward_slice.cpp",
        "carried_[i] = needed_[f.q].at(0);",
        "carried_[i] = false;",
        f"{SEARCH}::test_nothing_that_matters_is_dead",
    ),
    _mutant(
        "opening-ignored",
        "external memories hold what they do in the golden run",
        f"{CPP}/propagation.cpp",
        "open(memory, *openings[opened].fixed);",
        "",
        f"{SEARCH}::test_nothing_that_matters_is_dead",
    ),
    _mutant(
        "course-not-reported",
        "runs leave though data may decide how long they take",
        f"{CPP}/liveness.cpp",
        "if (const auto cycle = propagation.seen()) settled_ = *cycle + 2;",
        "",
        f"{SEARCH}::test_a_run_whose_course_depends_on_data_is_said_to",
    ),
)

AUDIT = (
    _mutant(
        "audit-by-a-part",
        "the audit takes a run for the golden one by the first bytes of each part of the state",
        f"{CPP}/audit.cpp",
        "b + parts_[i].offset, parts_[i].bytes) == 0",
        "b + parts_[i].offset, std::min<uint64_t>(parts_[i].bytes, 24)) == 0",
        f"{TRIALS}::test_a_memory_that_differs_is_a_difference",
    ),
    _mutant(
        "audit-rounds-by-a-part",
        "the audit takes a state for one that was there before by the first bytes of each part of it",
        f"{CPP}/audit.cpp",
        "kept.state.data() + places_[i], parts_[i].bytes) == 0",
        "kept.state.data() + places_[i], std::min<uint64_t>(parts_[i].bytes, 24)) == 0",
        f"{TRIALS}::test_what_goes_on_in_a_memory_alone_is_no_round",
    ),
    _mutant(
        "audit-forgets-alarms",
        "in the audit a run that is as the golden one again has raised no alarm",
        f"{PY}/audit_trials.py",
        "return replace(end, alarms=alarms, first=first)",
        "return replace(end, alarms=alarms if trial.ending is not Ending.REJOINED else (), first=first)",
        f"{TRIALS}::test_runs_that_are_late_or_tell_of_something",
    ),
    _mutant(
        "audit-not-later",
        "in the audit a run that is as the golden one again, but later, ends when that does",
        f"{CPP}/audit.cpp",
        "event.end_cycle = limits_.end + (run.cycle - golden_->cycle);",
        "event.end_cycle = limits_.end;",
        f"{TRIALS}::test_runs_that_are_late_or_tell_of_something",
    ),
    _mutant(
        "audit-too-late",
        "in the audit a run is as the golden one again, and counts though its end comes after the time-out",
        f"{CPP}/audit.cpp",
        "if (end + shift > trial.limit) return false;",
        "",
        f"{TRIALS}::test_runs_that_are_late_or_tell_of_something",
    ),
    _mutant(
        "audit-operation-over-time",
        "in the audit a run is as the golden one again, and counts though its operation takes too long",
        f"{CPP}/audit.cpp",
        "if (limits_.allowance && run.cycle - trial.counter.moved >",
        "if (false && run.cycle - trial.counter.moved >",
        f"{TRIALS}::test_operations_and_inferences_that_have_a_time_out",
    ),
    _mutant(
        "audit-round-stands-still",
        "in the audit a run that goes round ends with its operation, though operations end on the way",
        f"{CPP}/audit.cpp",
        "const bool moves = trial.counter.moved > kept.cycle;",
        "const bool moves = false;",
        f"{TRIALS}::test_rounds_in_which_operations_end",
    ),
)

HOLDING = tuple(
    replace(own, campaign=None)  # the campaign has upsets alone
    for own in (
        _mutant(
            "held-bits-let-go",
            "lanes set held bits in none of their cycles",
            "rtl_harness/engine/fast/lanes/machine.h",
            "  if (!held.empty()) {\n    set();",
            "  if (held.size() == 999) {\n    set();",
            HELD_ALIKE,
        ),
        _mutant(
            "held-bits-before-resets",
            "in lanes a bit that is held resets nothing on its way to its value",
            "rtl_harness/engine/fast/lanes/machine.h",
            "  edge(s);\n  for (",
            "  edge(s);\n  for (const HeldBit& bit : held) {\n"
            "    *bit.byte = static_cast<char>((*bit.byte & ~bit.mask) | bit.value);\n  }\n  for (",
            HELD_ALIKE,
        ),
        _mutant(
            "held-bits-rejoin-early",
            "stuck bits in lanes rejoin a golden run that will have another value yet",
            f"{CPP}/held_lanes.cpp",
            "shortcuts_, job.free);\n  if (!edges)",
            "shortcuts_, 0);\n  if (!edges)",
            HELD_ALIKE,
        ),
        _mutant(
            "held-memories-not-compared",
            "stuck bits in lanes rejoin with other memories",
            f"{CPP}/held_lanes.cpp",
            "if (!golden.memories().equals(injector_.run().instance())) return false;",
            "",
            HELD_ALIKE,
        ),
        _mutant(
            "held-lanes-trusted",
            "answers of lanes that differ from the compiled model are given",
            f"{PY}/held_simulator.py",
            "if not self.lanes.differ:",
            "if True:",
            f"{HELD}::test_lanes_that_differ_are_closed_and_no_row_is_wrong",
        ),
    )
)

FAST_ENGINE = (
    *BOUNDARY,
    *SPENT,
    *SEARCHING,
    *MERGES,
    *REJOINING,
    *LARGE,
    *SIMULATING,
    *UNDEFINED,
    *FOLLOWING,
    *PAUSING,
    *WATCHDOG,
    *DETECTION,
    *PYTHON,
    *AUDIT,
    *HOLDING,
)
