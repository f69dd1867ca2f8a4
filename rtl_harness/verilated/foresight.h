// C interface of foresight: how long a flipped bit stays alone, without simulating it.
//
// In the golden run the values of all storage are known for every cycle. So the effect of a flipped bit on
// the next cycle can be evaluated for 64 cycles at a time, gate by gate, along the paths where it makes a
// difference. While the only difference is the bit itself, the fault is the same as if it came later.
#ifndef RESIL_VERILATED_FORESIGHT_H
#define RESIL_VERILATED_FORESIGHT_H

#include "campaign.h"

extern "C" {

struct Foresight;

struct Gate {
  int32_t operation;  // see verilator_gates.py
  int32_t a, b, s, y;
};

struct FlipFlop {
  int32_t q, d;
  int32_t load, active;  // asynchronous reset or load: net and active level
  uint64_t offset;       // byte of the state that holds it
  int32_t bit;
};

struct Memory {
  uint64_t offset;
  uint64_t words;
  uint32_t entry_bytes;
  int32_t first_word;
};

/// A memory port; `first` counts into the list of nets: `address` nets, then `data`, then (writes) `data` enables.
struct MemoryPort {
  int32_t memory;
  int32_t address;
  int32_t data;
  int32_t first;
};

struct Circuit {
  uint64_t nets;
  const Gate* gates;
  uint64_t gate_count;
  const FlipFlop* flip_flops;
  uint64_t flip_flop_count;
  const Memory* memories;
  uint64_t memory_count;
  const MemoryPort* reads;
  uint64_t read_count;
  const MemoryPort* writes;
  uint64_t write_count;
  const int32_t* ports;  // outputs of the top that an observer looks at
  uint64_t port_count;
  const int32_t* lists;  // nets of memory ports
  uint64_t list_length;
};

/// A flipped bit: of a flip-flop (its number), or of a memory (`memory` >= 0).
struct Question {
  int32_t flip_flop;
  int32_t memory;
  uint32_t word;
  uint32_t bit;
  uint64_t cycle;
};

enum Prospect : int32_t { kVanishes = 0, kMatters = 1 };

/// The bit vanishes without a trace after `cycle`, or from `cycle` on it has to be simulated.
struct Answer {
  int32_t prospect;
  uint64_t cycle;
};

/// The circuit is copied. The campaign must have had its golden pass and stay as long as the foresight.
Foresight* resil_foresight_create(Campaign* campaign, const Circuit* circuit);
void resil_foresight_destroy(Foresight* self);

/// Answer questions in the order of their cycles. Not 0 if the circuit and the model differ on the golden run.
int32_t resil_foresight_ask(Foresight* self, const Question* questions, uint64_t count, Answer* answers);
}

#endif
