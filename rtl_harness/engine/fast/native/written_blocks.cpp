// SPDX-License-Identifier: Apache-2.0
// See written_blocks.h.

#include "written_blocks.h"

#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <mutex>

namespace {

// All that are followed, for the handler of page faults. Where there is no room, all counts as written.
// Places are taken from the first on: beyond `places` none ever was.
std::array<std::atomic<WrittenBlocks*>, 4096> followed;
std::atomic<size_t> places;
struct sigaction handler_before;

void on_fault(int number, siginfo_t* info, void* context) {
  const char* const address = static_cast<const char*>(info->si_addr);
  const size_t taken = places.load(std::memory_order_acquire);
  for (size_t i = 0; i < taken; ++i) {
    WrittenBlocks* const blocks = followed[i].load(std::memory_order_acquire);
    if (blocks && blocks->note(address)) return;
  }
  if (handler_before.sa_flags & SA_SIGINFO) return handler_before.sa_sigaction(number, info, context);
  if (handler_before.sa_handler == SIG_DFL || handler_before.sa_handler == SIG_IGN) {
    signal(number, SIG_DFL);  // the write is tried again, and ends the process as it would have
    return;
  }
  handler_before.sa_handler(number);
}

void take_faults() {
  static std::once_flag once;
  std::call_once(once, [] {
    struct sigaction own = {};
    own.sa_sigaction = on_fault;
    own.sa_flags = SA_SIGINFO | SA_NODEFER;
    sigaction(SIGSEGV, &own, &handler_before);
  });
}

uintptr_t page_bytes() {
  static const auto size = static_cast<uintptr_t>(sysconf(_SC_PAGESIZE));
  return size;
}

}  // namespace

LargeMemories::LargeMemories(std::vector<Piece> pieces) : pieces_(std::move(pieces)) {
  for (const Piece& piece : pieces_) {
    first_.push_back(blocks_);
    blocks_ += (piece.bytes + kBlockBytes - 1) / kBlockBytes;
  }
}

size_t LargeMemories::piece(size_t number) const {
  return std::upper_bound(first_.begin(), first_.end(), number) - first_.begin() - 1;
}

Piece LargeMemories::block(size_t number) const {
  const size_t i = piece(number);
  const uint64_t at = (number - first_[i]) * kBlockBytes;
  return {pieces_[i].offset + at, std::min(kBlockBytes, pieces_[i].bytes - at)};
}

WrittenBlocks::WrittenBlocks(char* state, const LargeMemories& memories)
    : state_(state), memories_(memories), blocks_(memories.blocks()), since_(memories.blocks()) {
  const uintptr_t size = page_bytes();
  for (size_t i = 0; i < memories_.pieces().size(); ++i) {
    const Piece& piece = memories_.pieces()[i];
    char* const begin = state_ + piece.offset;
    const auto at = reinterpret_cast<uintptr_t>(begin);
    const uintptr_t head = (at + size - 1) / size * size - at;
    const uintptr_t whole = piece.bytes < head ? 0 : (piece.bytes - head) / size;
    const size_t first = memories_.first(i);
    first_page_.push_back(pages_.size());
    for (uintptr_t page = 0; page < whole; ++page) {
      const uint64_t from = head + page * size;
      pages_.push_back({begin + from, first + from / kBlockBytes, first + (from + size - 1) / kBlockBytes, false});
    }
    for (uint64_t byte = 0; byte < std::min<uint64_t>(head, piece.bytes); byte += kBlockBytes) {
      always_.push_back(first + byte / kBlockBytes);
    }
    for (uint64_t byte = head + whole * size; byte < piece.bytes; byte = (byte / kBlockBytes + 1) * kBlockBytes) {
      always_.push_back(first + byte / kBlockBytes);
    }
  }
  std::sort(always_.begin(), always_.end());
  always_.erase(std::unique(always_.begin(), always_.end()), always_.end());
  for (const size_t block : always_) blocks_.add(block);
  pages_noted_.resize(pages_.size());
  pages_open_.resize(pages_.size());
  protect();
}

WrittenBlocks::~WrittenBlocks() {
  open_all();
  if (place_ < followed.size()) followed[place_].store(nullptr, std::memory_order_release);
}

void WrittenBlocks::protect() {
  take_faults();
  for (WrittenBlocks* none = nullptr; place_ < followed.size(); ++place_, none = nullptr) {
    if (followed[place_].compare_exchange_strong(none, this)) break;
  }
  bool done = place_ < followed.size();
  size_t taken = places.load();
  while (done && taken <= place_ && !places.compare_exchange_weak(taken, place_ + 1)) continue;
  for (size_t i = 0; i < first_page_.size() && done; ++i) {
    const size_t begin = first_page_[i], end = i + 1 < first_page_.size() ? first_page_[i + 1] : pages_.size();
    done = begin == end || mprotect(pages_[begin].begin, (end - begin) * page_bytes(), PROT_READ) == 0;
  }
  if (!done) open_all();
}

// Nothing is followed any more: all may have been written, and may be in every cycle.
void WrittenBlocks::open_all() {
  for (size_t i = 0; i < pages_.size(); ++i) {
    if (!pages_[i].open) opened(i);
  }
  for (size_t i = 0; i < first_page_.size(); ++i) {
    const size_t begin = first_page_[i], end = i + 1 < first_page_.size() ? first_page_[i + 1] : pages_.size();
    if (begin != end) mprotect(pages_[begin].begin, (end - begin) * page_bytes(), PROT_READ | PROT_WRITE);
  }
  for (size_t block = 0; block < memories_.blocks(); ++block) {
    blocks_.add(block);
    since_.add(block);
  }
}

void WrittenBlocks::opened(size_t page) {
  Page& own = pages_[page];
  own.open = true;
  own.place = open_;
  pages_open_[open_++] = page;
  pages_noted_[noted_++] = page;
  for (size_t block = own.first; block <= own.last; ++block) {
    blocks_.add(block);
    since_.add(block);
  }
}

void WrittenBlocks::closed(size_t page) {
  pages_[page].open = false;
  const size_t last = pages_open_[--open_];
  pages_open_[pages_[page].place] = last;
  pages_[last].place = pages_[page].place;
}

bool WrittenBlocks::note(const char* address) {
  for (size_t i = 0; i < first_page_.size(); ++i) {
    const size_t begin = first_page_[i], end = i + 1 < first_page_.size() ? first_page_[i + 1] : pages_.size();
    if (begin == end || address < pages_[begin].begin || address >= pages_[end - 1].begin + page_bytes()) continue;
    const size_t number = begin + static_cast<size_t>(address - pages_[begin].begin) / page_bytes();
    if (pages_[number].open) return true;
    if (mprotect(pages_[number].begin, page_bytes(), PROT_READ | PROT_WRITE) != 0) {
      open_all();  // too many mappings: with one there are fewer
    } else {
      opened(number);
    }
    return true;
  }
  return false;
}

void WrittenBlocks::close(std::span<const size_t> run) {
  // Without a place nobody would let the next write through.
  const bool done = place_ < followed.size() &&
                    mprotect(pages_[run.front()].begin, run.size() * page_bytes(), PROT_READ) == 0;
  for (const size_t page : run) {
    if (done) {
      closed(page);
    } else {
      pages_noted_[noted_++] = page;
    }
  }
}

void WrittenBlocks::close_all() {
  std::vector<size_t> open(pages_open_.begin(), pages_open_.begin() + static_cast<std::ptrdiff_t>(open_));
  std::sort(open.begin(), open.end());
  noted_ = taken_ = 0;
  recent_.clear();
  for (size_t i = 0, end = 0; i < open.size(); i = end) {
    const char* const begin = pages_[open[i]].begin;
    for (end = i + 1; end < open.size() && pages_[open[end]].begin == begin + (end - i) * page_bytes();) ++end;
    close({open.data() + i, end - i});
  }
}

void WrittenBlocks::sync(uint64_t edges) {
  synced_ = edges;
  if (open_ > kMostOpen) close_all();
  since_.clear();
  for (const size_t block : always_) since_.add(block);
  for (size_t i = 0; i < open_; ++i) {
    const Page& page = pages_[pages_open_[i]];
    for (size_t block = page.first; block <= page.last; ++block) since_.add(block);
  }
}

void FollowedInstances::follow(Instance& instance) {
  if (!memories_.blocks()) return;
  written_.emplace_back(&instance, std::make_unique<WrittenBlocks>(instance.state(), memories_));
}

WrittenBlocks* FollowedInstances::find(const Instance& instance) const {
  for (const auto& [followed, written] : written_) {
    if (followed == &instance) return written.get();
  }
  return nullptr;
}

const BlockSet& FollowedInstances::written(const Instance& instance) const {
  const WrittenBlocks* const found = find(instance);
  return found ? found->blocks() : none_;
}

void FollowedInstances::forget() const {
  for (const auto& [instance, written] : written_) written->forget();
}

void FollowedInstances::copy(Instance& to, const Instance& from) const {
  to.copy(from);
  const auto copied = [&](const Piece& piece) {
    std::memcpy(to.state() + piece.offset, from.state() + piece.offset, piece.bytes);
    return true;
  };
  if (knows(to) && knows(from)) {
    memories_.each_in(written(to), written(from), [&](size_t block) { return copied(memories_.block(block)); });
  } else {
    for (const Piece& piece : memories_.pieces()) copied(piece);
  }
}
