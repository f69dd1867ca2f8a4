// SPDX-License-Identifier: Apache-2.0
// Pulses on nets of a netlist: what registers, memories and outputs take from a net that is inverted for one cycle.
//
// The golden values of all nets are those of a window; each pulse is followed through the gates in its own cycle alone,
// event by event. What comes of it afterwards is the difference of a state, as that of an upset is.
#ifndef RESIL_VERILATED_NET_PULSES_H
#define RESIL_VERILATED_NET_PULSES_H

#include "injector.h"
#include "window.h"

extern "C" {

/// A net of the circuit that has the other value in a cycle, until its end: the state after this cycle's edge is golden.
struct NetPulse {
  int32_t net;
  uint64_t cycle;
};

enum PulseFlag : uint32_t {
  kPulseDone = 1,       // done has the other value in this cycle
  kPulseUndefined = 2,  // gates alone do not say what comes of it
  kPulseReset = 4,      // an asynchronous reset or load acts, or does not, other than in the golden run
  kPulseState = 8       // one that acts has set a register to another value, in this very cycle
};

/// What comes of a pulse, also in the last cycle, after which nothing looks at it: `bytes` of all that ends, see `resil_pulses_bytes`, from the end of the one before on.
struct PulseEffect {
  uint64_t end;
  uint64_t alarms;  // that are up in its cycle, a bit for each
  uint64_t status;  // bits of the status word that differ in its cycle
  uint32_t flags;
  uint32_t registers;  // flip-flops that differ a cycle later
};
}

class NetPulses {
 public:
  /// `values` are those of flip-flops while their load acts, -1 if unknown; the first `done` ports are bits of done.
  NetPulses(Injector& injector, const Circuit& circuit, const int32_t* values, uint64_t done);

  /// Work out all pulses, whose cycles do not descend.
  void run(const NetPulse* pulses, uint64_t count);
  /// Compare flip-flops, memories and alarms in every cycle of the golden run; throws where they differ.
  void verify();

  const std::vector<PulseEffect>& effects() const { return effects_; }
  const Difference& bytes() const { return bytes_; }
  uint64_t effort() const { return effort_; }

 private:
  void pulse(int32_t net, size_t place);
  bool value(int32_t net) const { return stamps_[net] == stamp_ ? faulty_[net] : window_.golden(net).at(place_); }
  bool golden(int32_t net) const { return window_.golden(net).at(place_); }
  bool differs(int32_t net) const { return stamps_[net] == stamp_ && faulty_[net] != golden(net); }
  void set(int32_t net, bool value);
  void push(int32_t gate);
  void evaluate(int32_t gate);
  void reread(int32_t port);
  void loads(int32_t flip_flop);
  bool active(const FlipFlop& f, bool level) const { return level == (f.active != 0); }
  void finish(PulseEffect& effect);
  void step_memory(int32_t memory);
  void release(std::vector<int32_t>& differing);
  uint64_t address(const MemoryPort& port) const;
  void verify_writes();

  Injector& injector_;
  Network network_;
  Window window_;
  std::vector<int32_t> values_;
  uint64_t done_;
  Adjacency loads_;                         // flip-flops whose load a net is
  std::vector<uint32_t> stamps_, queued_, reached_, forced_, active_;
  std::vector<uint8_t> faulty_;
  std::vector<int32_t> reached_list_, active_list_, forced_list_;
  std::vector<int32_t> heap_;
  uint32_t stamp_ = 0;
  size_t place_ = 0;
  uint32_t flags_ = 0;
  bool forcing_ = true;    // resets that begin act at once
  bool checking_ = false;  // what is written in the golden run against what it has then
  uint64_t effort_ = 0;
  Difference next_, bytes_;
  std::vector<PulseEffect> effects_;
};

extern "C" {

NetPulses* resil_pulses_create(Injector* injector, const Circuit* circuit, const int32_t* values, uint64_t done);
void resil_pulses_destroy(NetPulses* self);
/// 0, or -1 if gates and model differ: see `resil_error`.
int32_t resil_pulses_run(NetPulses* self, const NetPulse* pulses, uint64_t count);
int32_t resil_pulses_verify(NetPulses* self);
const PulseEffect* resil_pulses_effects(const NetPulses* self);
const ByteDifference* resil_pulses_bytes(const NetPulses* self);
/// Gates evaluated so far.
uint64_t resil_pulses_effort(const NetPulses* self);
}

#endif
