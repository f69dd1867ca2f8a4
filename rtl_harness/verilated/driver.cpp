// Runs a closed Verilator model: see driver.h. `glue.h` is generated for each design.

#include "driver.h"

#include <cstring>
#include <iterator>
#include <type_traits>

#include "instance.h"
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

template <typename T>
constexpr Member member(size_t offset) {
  static_assert(std::is_trivially_copyable_v<T> || std::is_same_v<T, std::string>,
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

const std::vector<Range>& ranges() {
  static const std::vector<Range> all = copied_ranges();
  return all;
}

}  // namespace

void Instance::copy(const Instance& from) {
  char* const target = state();
  const char* const source = from.state();
  for (const Range& range : ranges()) std::memcpy(target + range.offset, source + range.offset, range.size);
  glue_copy_strings(syms(), from.syms());
  context.time(from.context.time());
  context.gotFinish(from.context.gotFinish());
  cycle = from.cycle;
  operation = from.operation;
  operations = from.operations;
  risen = from.risen;
  rises = from.rises;
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
        return std::make_unique<Instance>(std::move(arguments)).release();
      },
      static_cast<Instance*>(nullptr));
}

void resil_destroy(Instance* self) {
  self->select();
  std::unique_ptr<Instance> owned{self};
  owned->model->final();
}

int32_t resil_reset(Instance* self, uint32_t edges) {
  self->select();
  return guarded(
      [&] {
        if (clock_is_high(*self->model)) self->fall();
        set_reset(*self->model, true);
        self->model->eval();
        for (uint32_t i = 0; i < edges; ++i) {
          self->rise();
          self->fall();
        }
        set_reset(*self->model, false);
        self->model->eval();
        self->cycle = 0;
        self->operation = port_operation(*self->model);
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
        GlueModel& model = *self->model;
        if (self->cycle > 0 && port_done(model)) return kDone;
        while (self->cycle < limit) {
          self->rise();
          self->note_operation();
          self->note_alarms();
          if (port_done(model)) return kDone;
          if (self->context.gotFinish()) return kFinish;
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
          if (self->context.gotFinish()) return kFinish;
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
  const GlueModel& model = *self->model;
  switch (port) {
    case kPortDone: return port_done(model);
    case kPortStatus: return port_status(model);
    case kPortInferences: return port_inferences(model);
    default: return port_operation(model);
  }
}

uint64_t resil_alarms_up(const Instance* self) { return port_alarms(*self->model); }

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
  const VerilatedScope* const holder = self->context.scopeFind(scope);
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

void resil_copy(Instance* to, const Instance* from) { to->copy(*from); }
}
