// SPDX-License-Identifier: Apache-2.0
// C interface of the simulator of faulty logic: what `library.py` calls.
#ifndef RESIL_LOGIC_API_H
#define RESIL_LOGIC_API_H

#include <cstdint>

#include "circuit.h"

extern "C" {

/// A byte of the outputs: where it lies.
struct OutputByte {
  int32_t memory;  // of the circuit
  uint64_t word;   // counted from the memory's first
  int32_t byte;
};

/// What is observed of a design, beside its gates.
struct Observed {
  const char* state;         // of an instance that has just come out of reset
  const int8_t* reset;       // of each flip-flop: what its asynchronous load sets; -1 if not known
  const uint8_t* counted;    // of each flip-flop: it is compared at the end
  const uint8_t* memories;   // of each memory: 1 if all of it is compared at the end
  const OutputByte* outputs;
  uint64_t output_count;
  uint64_t done;             // how many of the circuit's ports say that it is done; the others are the status
  uint64_t detects;          // alarms, a bit for each
  uint64_t corrects;
};

/// How a run ended.
enum LogicHow : int32_t {
  kSame = 0,        // as the golden run: the fault changes no next state, no memory, no output
  kUnexcited = 1,   // likewise: the net has the value at which it is held, always
  kDone = 2,
  kLimit = 3,
  kLoop = 4,        // a state came again: it would go on so to the time-out
  kDetected = 5,
  kUndefined = 6,   // the gates do not know what the design does: nothing is known
};

struct LogicResult {
  int32_t how;
  int32_t differs;         // storage that is compared, at the end; of a run that is done with equal outputs
  uint64_t end_cycle;
  uint64_t status;
  int32_t detected;        // the first alarm that reports a detected fault; -1 if none does
  int32_t corrected;
  uint64_t detected_cycle;
  uint64_t corrected_cycle;
};

/// Of the golden run.
struct LogicGolden {
  uint64_t cycles;
  uint64_t status;
  uint64_t alarms;         // that rise in it, a bit for each
};

/// What a pin is.
enum PinKind : int32_t {
  kNetPin = 0,      // drives net `at`, which is held for all that it feeds
  kOperandPin = 1,  // takes operand `column` of gate `at`: 1 a, 2 b, 3 s; nothing else is held
  kDataPin = 2,     // what flip-flop `at` takes at each edge
  kLoadPin = 3,     // the asynchronous load of flip-flop `at`, held where it does not act
  // No pin: storage that is inverted once, when all has settled after `value` edges.
  kFlipFlopUpset = 4,  // flip-flop `at`
  kMemoryUpset = 5,    // of memory `column` bit `at`, counted over the bytes of its words
  // Bridges. The nets must not depend on one another along gates in the direction in which values are taken.
  kBridgePin = 6,  // net `at` has what net `column` has
  kWiredPin = 7,   // net `at` has what both it and net `column` are driven to (`value` 0), or either (1); a pin of its own
                   // says the same of the other net
  // Stuck-open. Operand `column % 4` of gate `column / 4` is taken as `value` besides: where that changes what ..
  kOpenPin = 8,      // .. net `at` is driven to, the net has what it had in the row before; in row 0 what it is driven to
  kOpenDataPin = 9,  // .. flip-flop `at` takes, it keeps what it stores; `column` -1: its own input is open
  // What flip-flop `column / 4` stores is operand `column % 4` of gate `at`, whatever its net has.
  kStoredPin = 10,
  // A pulse: net `at` is inverted once, from when all has settled after `column` edges until the next one; `value` is 1.
  kPulsePin = 11,
};

constexpr bool is_open(int32_t kind) { return kind == kOpenPin || kind == kOpenDataPin; }
/// A pin on whose net values depend on what else the machine has.
constexpr bool is_dynamic(int32_t kind) {
  return kind == kBridgePin || kind == kWiredPin || kind == kOpenPin || kind == kPulsePin;
}

/// A pin, or one of several that a fault holds; or an upset that goes with them.
struct HeldPin {
  int32_t kind;
  int32_t at;
  int32_t column;
  int32_t value;
};

/// A fault holds pins[first .. first + count).
struct HeldPins {
  uint32_t first;
  uint32_t count;
};

/// When runs end.
struct LogicLimits {
  uint64_t limit;          // cycles
  uint64_t allowance;      // cycles that the counter of operations may stand still; 0 if it may for ever
  uint64_t until_detection;
  // How the work is done; results do not depend on it.
  uint64_t window;         // cycles after which groups of machines are looked at
  uint64_t far;            // machines that differ in 2^far flip-flops are put together
};

struct LogicCounts {
  uint64_t evaluations;    // of a gate, or of a fanout-free region, for 512 machines
  uint64_t group_cycles;   // cycles of 512 machines
  uint64_t lane_cycles;    // cycles of machines
  uint64_t loops;          // machines whose state came again
  uint64_t moved;          // machines that were put together with others that have gone far from the golden run
};

struct LogicSimulator;

const char* logic_error();
/// `kept`: bytes that may be taken by what is kept of the run without a fault; results do not depend on it.
LogicSimulator* logic_create(const Circuit* circuit, const Observed* observed, uint64_t kept);
void logic_destroy(LogicSimulator* self);
/// Simulate without a fault until it is done, for at most `limit` cycles in all: 1 if it is not done then, -1 if it failed.
int32_t logic_golden(LogicSimulator* self, uint64_t limit, uint8_t* output, LogicGolden* golden);
/// Whether each net has been 0 (bit 0) and 1 (bit 1) in the golden run, from the release of reset to its end.
int32_t logic_values(LogicSimulator* self, uint8_t* values);
/// Whether something that is observed depends on each net.
int32_t logic_reaches(LogicSimulator* self, uint8_t* reaches);
/// Begin to simulate faults, in place of those that were begun before; `output` has as many bytes for each as the outputs
/// have. It and `results` have to stay where they are until all have ended.
int32_t logic_begin(LogicSimulator* self, const HeldPins* faults, uint64_t count, const HeldPin* pins,
                    const LogicLimits* limits, LogicResult* results, uint8_t* output);
/// Go on with them for a window: 1 if some have not ended then, 0 if all have, -1 if it failed. `row`: the cycle that they
/// have come to.
int32_t logic_advance(LogicSimulator* self, uint64_t* row, LogicCounts* counts);
/// The same by evaluating every gate of every machine in every cycle; after `logic_golden`.
int32_t logic_judge(LogicSimulator* self, const HeldPins* faults, uint64_t count, const HeldPin* pins,
                    const LogicLimits* limits, LogicResult* results, uint8_t* output);
}

#endif
