// One running copy of the model, as the parts of the library share it.
#ifndef RESIL_VERILATED_INSTANCE_H
#define RESIL_VERILATED_INSTANCE_H

#include <bit>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "driver.h"
#include "glue.h"
#include "verilated.h"

extern thread_local std::string last_error;

// Runs `body`; an exception becomes the message of `resil_error` and the value `failed`.
template <typename Body>
auto guarded(Body&& body, decltype(body()) failed) -> decltype(body()) {
  try {
    return body();
  } catch (const std::exception& error) {
    last_error = error.what();
  }
  return failed;
}

struct Instance {
  VerilatedContext context;
  std::unique_ptr<GlueModel> model;
  uint64_t cycle = 0;
  uint64_t operation = 0;
  std::vector<uint64_t> operations;
  uint64_t risen = 0;  // alarms, a bit for each, as far as they were noted
  std::vector<Rise> rises;

  explicit Instance(std::vector<const char*> arguments) {
    context.commandArgs(static_cast<int>(arguments.size()), arguments.data());
    context.randReset(0);
    select();
    model = std::make_unique<GlueModel>(&context, "");
    set_clock(*model, 0);
    set_reset(*model, false);
    model->eval();
  }

  GlueSyms& syms() const { return *model->rootp->vlSymsp; }
  char* state() const { return reinterpret_cast<char*>(&syms()); }

  // One active edge; the clock stays high so that a caller sees the design settled after it.
  void rise() {
    if (clock_is_high(*model)) fall();
    set_clock(*model, 1);
    glue_eval(syms());
    ++cycle;
  }

  void fall() {
    set_clock(*model, 0);
    glue_eval(syms());
  }

  // Recompute what depends on storage, then let the edges happen that this made in derived clocks.
  void settle() {
    glue_settle(syms());
    glue_eval(syms());
  }

  void select() { Verilated::threadContextp(&context); }

  // Continue exactly where `from`, an instance of the same library, is.
  void copy(const Instance& from);

  // Keep the cycle in which an alarm was up for the first time.
  void note_alarms() {
    for (uint64_t up = port_alarms(*model) & ~risen; up; up &= up - 1) {
      risen |= up & -up;
      rises.push_back({std::countr_zero(up), cycle - 1});
    }
  }

  // Keep the cycle in which the operation counter changed; true if that was now.
  bool note_operation() {
    const uint64_t now = port_operation(*model);
    if (now == operation) return false;
    operation = now;
    operations.push_back(cycle);
    operations.push_back(now);
    return true;
  }
};

#endif
