// SPDX-License-Identifier: Apache-2.0
// Fanout-free regions: gates whose output nothing but one other gate takes are evaluated with it, as one.
//
// Nets within a region have no differences of their own. A net of which something else has to know is kept out of
// regions by whoever makes them: it is then the output of a region.
#ifndef RESIL_LOGIC_REGIONS_H
#define RESIL_LOGIC_REGIONS_H

#include "design.h"

constexpr uint32_t kRegion = 0xfffffffe;

struct Regions {
  static constexpr size_t kInputs = 6;       // nets that a region takes, at most
  static constexpr size_t kOperations = 24;  // gates in it, at most
  static constexpr size_t kSlots = 1 + kInputs + kOperations;

  /// `kept`: nets that have to be the output of a region, beside those that the design observes.
  Regions(const Design& design, std::vector<uint8_t> kept);

  // Of targets regions come first, flip-flops and write ports begin with sets of their own.
  static constexpr size_t kSet = Design::kSet;
  static size_t sets(size_t targets) { return Design::sets(targets); }
  /// Words of a bit for each region.
  size_t words() const { return sets(cells.size()) * kSet / 64; }
  size_t first_flip_flop() const { return sets(cells.size()) * kSet; }
  size_t first_write() const { return first_flip_flop() + sets(flip_flops_) * kSet; }
  size_t targets() const { return first_write() + sets(writes_) * kSet; }

  /// In an order in which each comes after its inputs. One gate alone is as in the design; of several `s` is `kRegion`,
  /// `a` the place in `code` and `b` how many inputs there are, and times 2^16 how many operations.
  std::vector<Mux> cells;
  /// Nets of the inputs; then for each operation the slots of s, a and b, a byte each, of which the highest bit inverts.
  /// Slot 0 is the constant 0, then come the inputs, then what the operations give.
  std::vector<uint32_t> code;
  std::vector<uint32_t> region_of, root_of;     // region of each gate; last gate of each region
  std::vector<std::vector<uint32_t>> reads_of;  // regions that are read ports, by memory
  std::vector<uint32_t> first_target;           // by net: regions, flip-flops and write ports
  std::vector<uint32_t> target;

 private:
  struct Growing;
  void emit(const Design& design, const Growing& growing, size_t gate);
  void connect(const Design& design);

  size_t flip_flops_, writes_;
};

#endif
