// SPDX-License-Identifier: Apache-2.0
// See liveness.h.

#include "liveness.h"

#include <algorithm>
#include <map>

#include "backward_slice.h"
#include "injector.h"
#include "propagation.h"

namespace {

// What is uncertain in the windows of a long run is kept together for several, each of which then knows a little less.
constexpr size_t kMostBytes = size_t{256} << 20;

}  // namespace

class DeadStorage {
 public:
  DeadStorage(GoldenRun& golden, const Circuit& circuit, const Externals& given)
      : golden_(golden),
        network_(circuit),
        window_(golden, network_),
        accesses_(network_),
        holding_(network_, window_),
        external_(given.external, given.external + given.external_count),
        analysed_(windows(), windows() <= given.most_windows) {
    if (windows() > given.most_windows) choose(given.most_windows);
    for (size_t i = 0; i <= golden.boundaries().size(); ++i) {
      fixed_.emplace_back(given.fixed + given.fixed_first[i], given.fixed + given.fixed_first[i + 1]);
    }
    propagate();
    slice();
    golden.copy(golden.cursor(), golden.origin());
  }

  const Difference& bits(size_t boundary) const { return dead_[boundary]; }
  uint64_t settled() const { return settled_; }

 private:
  size_t windows() const { return (golden_.length() + kWindowCycles - 1) / kWindowCycles; }

  // As many windows behind each end of an operation as there may be: those of short operations leave more to others.
  void choose(uint64_t most) {
    uint64_t left = most;
    for (bool more = true; more && left;) {
      more = false;
      for (const GoldenBoundary& boundary : golden_.boundaries()) {
        // The first behind it that is not chosen: ends that lie together share those of both.
        size_t k = (boundary.edges - 1) / kWindowCycles;
        while (k < analysed_.size() && analysed_[k]) ++k;
        if (k == analysed_.size() || !left) continue;
        analysed_[k] = more = true;
        --left;
      }
    }
  }

  void load(uint64_t first) {
    window_.load(first);
    for (const FlipFlop& f : network_.flip_flops) window_.verify(f);
    accesses_.gather(window_);
    holding_.forget();
  }

  // Places in the window at which the golden run is at the end of an operation, and which end.
  std::vector<std::pair<uint32_t, size_t>> ends() const {
    std::vector<std::pair<uint32_t, size_t>> found;
    for (size_t i = 0; i < golden_.boundaries().size(); ++i) {
      const uint64_t cycle = golden_.boundaries()[i].edges - 1;
      if (cycle >= window_.first() && cycle <= window_.last()) found.emplace_back(cycle - window_.first(), i);
    }
    return found;
  }

  // Forwards: which nets depend on external memories, and until when an observer sees something that does.
  void propagate() {
    Propagation propagation(network_, window_, accesses_, holding_, external_);
    const auto count = static_cast<size_t>(std::ranges::count(analysed_, true));
    together_ = 1 + count * network_.nets / 8 / kMostBytes;
    uncertain_.assign((count + together_ - 1) / together_, std::vector<bool>(network_.nets));
    size_t number = 0;
    for (uint64_t first = 0; first < golden_.length(); first += kWindowCycles) {
      load(first);
      std::vector<Opening> openings;
      if (first == 0) openings.push_back({0, &fixed_[0]});
      for (const auto& [place, i] : ends()) openings.push_back({place, &fixed_[i + 1]});
      propagation.go_through(openings);
      if (const auto cycle = propagation.seen()) settled_ = *cycle + 2;
      if (!analysed_[first / kWindowCycles]) continue;
      std::vector<bool>& nets = uncertain_[number++ / together_];
      for (size_t net = 2; net < network_.nets; ++net) {
        if (any(propagation.dependent(static_cast<int32_t>(net)))) nets[net] = true;
      }
    }
  }

  // Backwards: what matters, and so what is dead at ends of operations.
  void slice() {
    BackwardSlice slice(network_, window_, accesses_, holding_, external_);
    dead_.resize(golden_.boundaries().size());
    auto number = static_cast<size_t>(std::ranges::count(analysed_, true));
    for (size_t k = windows(); k-- > 0;) {
      if (!analysed_[k]) continue;
      if (k + 1 < windows() && !analysed_[k + 1]) slice.need_all();
      --number;
      golden_.rewind(k * kWindowCycles + 1);
      load(k * kWindowCycles);
      std::vector<uint32_t> places;
      std::vector<size_t> numbers;
      for (const auto& [place, i] : ends()) {
        places.push_back(place);
        numbers.push_back(i);
      }
      std::vector<Difference> found;
      slice.go_through(uncertain_[number / together_], places, found);
      for (size_t i = 0; i < found.size(); ++i) dead_[numbers[i]] = joined(found[i]);
    }
  }

  static Difference joined(const Difference& bits) {
    std::map<uint64_t, uint32_t> bytes;
    for (const ByteDifference& bit : bits) bytes[bit.offset] |= bit.mask;
    Difference all;
    for (const auto& [offset, mask] : bytes) all.push_back({offset, mask});
    return all;
  }

  GoldenRun& golden_;
  Network network_;
  Window window_;
  Accesses accesses_;
  Holding holding_;
  std::vector<Piece> external_;
  std::vector<std::vector<Piece>> fixed_;     // at the start, and by boundary
  std::vector<bool> analysed_;                // windows that are gone through backwards
  size_t together_ = 1;                       // of these, such as share what is uncertain in them
  std::vector<std::vector<bool>> uncertain_;  // by these and net
  std::vector<Difference> dead_;              // by boundary
  uint64_t settled_ = 0;
};

extern "C" {

DeadStorage* resil_liveness_find(Injector* injector, const Circuit* circuit, const Externals* given) {
  return guarded([&] { return new DeadStorage(injector->golden(), *circuit, *given); },
                 static_cast<DeadStorage*>(nullptr));
}

void resil_liveness_destroy(DeadStorage* self) { delete self; }

uint64_t resil_liveness_bits(const DeadStorage* self, uint64_t i, const ByteDifference** bits) {
  *bits = self->bits(i).data();
  return self->bits(i).size();
}

uint64_t resil_liveness_settled(const DeadStorage* self) { return self->settled(); }
}
