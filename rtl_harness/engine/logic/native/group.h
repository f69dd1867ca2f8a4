// SPDX-License-Identifier: Apache-2.0
// Up to 512 machines, each with a fault of its own, that go through the cycles of the golden run together.
//
// A machine is what differs in it from the golden run in the same cycle: flip-flops, and words of memories.
#ifndef RESIL_LOGIC_GROUP_H
#define RESIL_LOGIC_GROUP_H

#include <array>
#include <optional>

#include "evaluator.h"

/// What a machine is that is in a lane.
struct Machine {
  uint32_t fault = 0;
  uint64_t moved = 0;   // edges after which its counter of operations moved last
  uint64_t stop = 0;    // the row in which it is at its end at the latest
  uint64_t report = 0;  // the row that is said of it then: later ones if it goes round for ever
  bool loops = false;
};

/// Storage, or a net, that is inverted once.
struct Upset {
  uint64_t row = 0;      // in which it is, before that row settles
  unsigned machine = 0;  // its lane
  HeldPin what{};
};

/// What all groups of a call have in common.
struct Context {
  const Design& design;
  Golden& golden;
  Memories& memories;
  Evaluator evaluator;
  LogicLimits limits;
  uint64_t usual;                          // alarms of the golden run
  std::vector<uint8_t> golden_output;
  LogicResult* results;
  uint8_t* output;                         // of each fault, one after the other
  LogicCounts counts{};
  std::vector<Lanes> dense;                // of flip-flops; all zero between uses
  // Of write ports, as of the last change: machines that write another word or other bits, whether data differ.
  std::vector<Lanes> alone;
  std::vector<uint8_t> other;
};

class Group {
 public:
  explicit Group(const Design& design);

  bool full() const { return used_ == kLanes; }
  unsigned alive() const { return count(live_); }
  /// Add a machine that is still as the golden run in row 0.
  void add(Context& c, uint32_t fault, const HeldPins& held, const HeldPin* pins);
  /// Take the cycles from row `from` on.
  void run(Context& c, uint64_t from, uint64_t to);
  /// Note the present state, and which machines were in it before: they go round for ever.
  void look_back(Context& c, uint64_t r);
  /// Machines that differ in so many flip-flops or more, a power of 2.
  Lanes far(unsigned power) const;
  /// Take machines out of another group, as many as there is room for; returns those that it took.
  Lanes take(Context& c, Group& from, const Lanes& wanted);
  void prune() { overlay_.prune(live_); }

 private:
  struct Snapshot {
    uint64_t row = 0;
    Lanes valid{};  // machines of which it was taken and that have written nothing since
    std::vector<Stored> state;
    std::vector<Lanes> kept;
    std::vector<uint64_t> golden;  // the nets of flip-flops in the golden run
    std::array<uint64_t, kLanes> moved{};
  };

  void cycle(Context& c, uint64_t r);
  void settle(Context& c);
  bool load(Context& c);
  void strike(Context& c, uint64_t r);
  void observe(Context& c, uint64_t r);
  void note_alarms(Context& c, uint64_t r);
  void note_moves(Context& c, uint64_t r);
  void write(Context& c, uint64_t r);
  void look_at(Context& c, size_t port);
  void write_port(Context& c, size_t port, const Written* golden);
  void write_alone(Context& c, size_t port, const Lanes& which);
  void end(Context& c, uint64_t r, const Lanes& which, LogicHow how);
  Lanes output_of(Context& c, const Lanes& which);
  Lanes state_differs(Context& c, uint64_t r, const Lanes& which) const;
  Lanes memories_differ(Context& c, const Lanes& which) const;
  void compare(Context& c, uint64_t r, const Snapshot& then);
  void drop(const Lanes& which);
  void hold(const Context& c, const HeldPin& pin, unsigned at, uint32_t slot);
  uint64_t deadline(const Context& c, const Machine& m) const;
  void rebuild_state(Context& c);

  const Design* design_;
  Lanes live_{};
  unsigned used_ = 0;
  std::array<Machine, kLanes> machines_;
  std::vector<Held> held_;
  std::vector<Stored> state_;
  std::vector<Lanes> kept_;       // what nets with an open pin had in the row before, by slot
  Overlay overlay_;
  std::vector<Lanes> operation_;  // the counter's bits in the row before
  Lanes detected_{}, corrected_{};
  Lanes wrote_{};                 // machines that have written to a memory since this was cleared
  uint64_t written_ = 0;          // memories that were written to at the last edge, a bit for each
  bool hot_ = false;              // an asynchronous load may act in the present row
  uint64_t next_stop_ = 0;        // no machine stops earlier
  std::vector<Upset> upsets_;     // that are still to come; from `run` on the next one is the last
  Snapshot recent_, old_;
  uint64_t begun_ = 0;
};

#endif
