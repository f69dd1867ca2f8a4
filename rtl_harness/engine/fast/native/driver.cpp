// SPDX-License-Identifier: Apache-2.0
// Runs a closed Verilator model: see driver.h. `glue.h` is generated for each design.

#include "driver.h"

#include <algorithm>
#include <cstring>
#include <iterator>
#include <memory>
#include <stdexcept>
#include <type_traits>
#include <utility>

#include "glue.h"
#include "instance.h"
#include "verilated.h"
#include "verilated_sym_props.h"

thread_local std::string last_error;

namespace {

struct Range {
  size_t offset;
  size_t size;
};

// A member of the model's state as the glue lists it; one that is not copied as bytes separates ranges.
struct Member {
  size_t offset;
  size_t size;
  bool bytes;
};

// Assignments that wait for the end of an evaluation, as of a loop over an array: none does between two of them.
template <typename T>
struct IsCommitQueue : std::false_type {};
template <typename Target, bool kPartial, typename Element, std::size_t kRank>
struct IsCommitQueue<VlNBACommitQueue<Target, kPartial, Element, kRank>> : std::true_type {};

template <typename T>
constexpr Member member(size_t offset) {
  static_assert(std::is_trivially_copyable_v<T> || std::is_same_v<T, std::string> || IsCommitQueue<T>::value,
                "the design keeps state in a dynamic type (queue, associative array, class, event)");
  return {offset, sizeof(T), std::is_trivially_copyable_v<T> && !std::is_pointer_v<T>};
}

#define RESIL_TABLE(cls, ...) constexpr Member k##cls[] = {__VA_ARGS__};
GLUE_CLASSES(RESIL_TABLE)

// One module instance of the model's state, and the table of its class.
struct Group {
  size_t offset;
  const Member* members;
  size_t count;
};

#define RESIL_GROUP(cls, instance) {offsetof(GlueSyms, instance), k##cls, std::size(k##cls)},
constexpr Group kGroups[] = {GLUE_INSTANCES(RESIL_GROUP)};

std::vector<Range> copied_ranges() {
  std::vector<Range> ranges;
  for (const Group& group : kGroups) {
    bool open = false;
    for (size_t i = 0; i < group.count; ++i) {
      const Member& m = group.members[i];
      if (!m.bytes) {
        open = false;
        continue;
      }
      const size_t begin = group.offset + m.offset;
      if (open) {
        ranges.back().size = begin + m.size - ranges.back().offset;
      } else {
        ranges.push_back({begin, m.size});
      }
      open = true;
    }
  }
  return ranges;
}

using Ranges = std::shared_ptr<const std::vector<Range>>;

const Ranges& whole() {
  static const Ranges all = std::make_shared<const std::vector<Range>>(copied_ranges());
  return all;
}

// The ranges without `pieces`, pairs of offset and bytes in ascending order.
Ranges without(const std::vector<Range>& all, const uint64_t* pieces, uint64_t count) {
  std::vector<Range> rest;
  for (Range range : all) {
    for (uint64_t i = 0; i < count; ++i) {
      const size_t begin = pieces[2 * i], end = begin + pieces[2 * i + 1];
      const size_t stop = range.offset + range.size;
      if (end <= range.offset || begin >= stop) continue;
      if (begin > range.offset) rest.push_back({range.offset, begin - range.offset});
      const size_t next = std::min(end, stop);
      range = {next, stop - next};
    }
    if (range.size) rest.push_back(range);
  }
  return std::make_shared<const std::vector<Range>>(std::move(rest));
}

// The instance with what the other parts of the library need not know of it.
struct Model final : Instance {
  VerilatedContext context;
  std::unique_ptr<GlueModel> top;
  Ranges copied = whole();

  explicit Model(std::vector<const char*> arguments) {
    context.commandArgs(static_cast<int>(arguments.size()), arguments.data());
    context.randReset(0);
    select();
    top = std::make_unique<GlueModel>(&context, "");
    state_ = reinterpret_cast<char*>(&syms());
    set_clock(*top, 0);
    reset(false);
  }

  GlueSyms& syms() const { return *top->rootp->vlSymsp; }

  void reset(bool active) {
    set_reset(*top, active);
    top->eval();
    note_outputs();
  }

  void clock(bool high) {
    clock_high = high;
    set_clock(*top, high);
    glue_eval(syms());
  }

  void note_outputs() {
    outputs = {port_done(*top), port_operation(*top), port_inferences(*top), port_alarms(*top), context.gotFinish()};
  }
};

Model& model(Instance* instance) { return static_cast<Model&>(*instance); }
const Model& model(const Instance* instance) { return static_cast<const Model&>(*instance); }

}  // namespace

void Instance::rise() {
  Model& own = model(this);
  if (clock_high) own.clock(false);
  own.clock(true);
  own.note_outputs();
  ++cycle;
}

void Instance::fall() {
  model(this).clock(false);
  model(this).note_outputs();
}

void Instance::settle() {
  Model& own = model(this);
  glue_settle(own.syms());
  glue_eval(own.syms());
  own.note_outputs();
}

void Instance::settle_quietly() {
  Model& own = model(this);
  glue_settle(own.syms());
  glue_forget_edges(own.syms());
  own.note_outputs();
}

void Instance::select() { Verilated::threadContextp(&model(this).context); }

void Instance::copy(const Instance& other) {
  Model& to = model(this);
  const Model& from = model(&other);
  const Ranges& ranges = to.copied == from.copied ? from.copied : whole();
  for (const Range& range : *ranges) std::memcpy(state_ + range.offset, from.state_ + range.offset, range.size);
  to.copied = from.copied;
  glue_copy_strings(to.syms(), from.syms());
  to.context.time(from.context.time());
  to.context.gotFinish(from.context.gotFinish());
  cycle = from.cycle;
  operation = from.operation;
  operations = from.operations;
  risen = from.risen;
  rises = from.rises;
  outputs = from.outputs;
  clock_high = from.clock_high;
}

void vl_fatal(const char* file, int line, const char* scope, const char* message) VL_MT_UNSAFE {
  throw std::runtime_error(std::string(file ? file : "") + ":" + std::to_string(line) + ": " + message +
                           (scope && *scope ? std::string(" in ") + scope : ""));
}

void vl_stop(const char* file, int line, const char* scope) VL_MT_UNSAFE {
  vl_fatal(file, line, scope, "the design called $stop or an assertion failed");
}

void vl_finish(const char*, int, const char*) VL_MT_UNSAFE { Verilated::threadContextp()->gotFinish(true); }

extern "C" {

const char* resil_error() { return last_error.c_str(); }

Instance* resil_create(uint32_t count, const char* const* plusargs) {
  return guarded(
      [&] {
        std::vector<const char*> arguments{"model"};
        arguments.insert(arguments.end(), plusargs, plusargs + count);
        return static_cast<Instance*>(std::make_unique<Model>(std::move(arguments)).release());
      },
      static_cast<Instance*>(nullptr));
}

void resil_destroy(Instance* self) {
  self->select();
  std::unique_ptr<Model> owned{&model(self)};
  owned->top->final();
}

int32_t resil_reset(Instance* self, uint32_t edges) {
  self->select();
  return guarded(
      [&] {
        if (self->clock_high) self->fall();
        model(self).reset(true);
        for (uint32_t i = 0; i < edges; ++i) {
          self->rise();
          self->fall();
        }
        model(self).reset(false);
        self->cycle = 0;
        self->operation = self->outputs.operation;
        self->operations.clear();
        self->risen = 0;
        self->rises.clear();
        return 0;
      },
      -1);
}

RunStop resil_run(Instance* self, uint64_t limit) {
  self->select();
  return guarded(
      [&] {
        if (self->cycle > 0 && self->outputs.done) return kDone;
        while (self->cycle < limit) {
          self->rise();
          self->note_operation();
          self->note_alarms();
          if (self->outputs.done) return kDone;
          if (self->outputs.finished) return kFinish;
        }
        return kLimit;
      },
      kFailed);
}

RunStop resil_run_to(Instance* self, uint64_t limit) {
  self->select();
  return guarded(
      [&] {
        while (self->cycle < limit) {
          self->rise();
          self->note_operation();
          self->note_alarms();
          if (self->outputs.finished) return kFinish;
        }
        return kLimit;
      },
      kFailed);
}

int32_t resil_settle(Instance* self) {
  self->select();
  return guarded(
      [&] {
        self->settle();
        self->note_alarms();
        return 0;
      },
      -1);
}

uint64_t resil_cycle(const Instance* self) { return self->cycle; }

uint64_t resil_port(const Instance* self, uint32_t port) {
  switch (port) {
    case kPortDone: return self->outputs.done;
    case kPortStatus: return port_status(*model(self).top);
    case kPortInferences: return self->outputs.inferences;
    default: return self->outputs.operation;
  }
}

uint64_t resil_alarms_up(const Instance* self) { return self->outputs.alarms; }

uint64_t resil_rises(const Instance* self, const Rise** rises) {
  *rises = self->rises.data();
  return self->rises.size();
}

uint64_t resil_operations(const Instance* self, const uint64_t** pairs) {
  *pairs = self->operations.data();
  return self->operations.size() / 2;
}

void* resil_state(Instance* self) { return self->state(); }

uint64_t resil_state_bytes() { return sizeof(GlueSyms); }

int32_t resil_find(Instance* self, const char* scope, const char* name, Variable* found) {
  const VerilatedScope* const holder = model(self).context.scopeFind(scope);
  const VerilatedVar* const var = holder ? holder->varFind(name) : nullptr;
  if (!var || var->unpackedRanges().size() > kMaxDimensions) return -1;
  *found = {};
  found->offset = static_cast<uint64_t>(static_cast<char*>(var->datap()) - self->state());
  found->entry_bytes = var->entSize();
  found->width = var->entBits();
  for (const VerilatedRange& range : var->unpackedRanges()) {
    found->words[found->dimensions] = range.elements();
    found->rising[found->dimensions] = range.left() <= range.right();
    found->lowest[found->dimensions++] = range.low();
  }
  return 0;
}

void resil_keep(Instance* self, const uint64_t* pieces, uint64_t count) {
  model(self).copied = without(*whole(), pieces, count);
}

void resil_copy(Instance* to, const Instance* from) { to->copy(*from); }
}
