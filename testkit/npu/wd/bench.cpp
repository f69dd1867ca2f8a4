// SPDX-License-Identifier: Apache-2.0
// Drives the weight decoder with the streams of a job file and records what it gives.
//
// usage: Vwd JOBS RESULTS; both are sequences of little-endian records, described below.

#include <cstdint>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <memory>
#include <random>
#include <vector>

#include "Vwd.h"
#include "verilated.h"

namespace {

constexpr unsigned kVecWeights = VEC_WEIGHTS;
constexpr unsigned kQuietLimit = 2000;  // cycles without any handshake that count as a hang

// Followed by the stream.
struct Job {
  uint32_t bytes;
  uint32_t vectors;        // to be taken
  uint32_t seed;
  uint32_t input_stall;    // percent of cycles in which no beat is offered
  uint32_t output_stall;   // percent of cycles in which no vector is taken
  uint32_t stop;           // 1: stop the decoder before this stream, and look that it is idle
};

// Followed by int16 weights of the vectors.
struct Result {
  uint32_t vectors;        // that were taken
  uint32_t error_at;       // vectors that had been taken when the error rose; 0: never
  uint32_t cycles;         // from the first beat to the last vector
  uint32_t latency;        // from the first beat to the first vector
  uint32_t beats;          // accepted until the end, also after the last vector
  uint32_t faults;         // of protocol: 1 vector changed while it waited, 2 not idle after stop, 4 error fell,
                           // 8 beat accepted in the cycle of start
};

class Bench {
 public:
  Bench() : top_(std::make_unique<Vwd>()) {
    top_->en_i = 1;
    top_->short_i = 0;
    top_->rst_ni = 0;
    Cycle();
    top_->rst_ni = 1;
    Cycle();
  }

  Result Run(const Job& job, const std::vector<uint8_t>& stream, std::vector<int16_t>& weights) {
    Result result{};
    std::mt19937 random(job.seed);
    if (job.stop) Stop(result);
    const uint32_t beats = job.bytes / 8;
    top_->start_i = 1;
    top_->vec_ready_i = 0;
    Offer(stream, 0, beats);
    top_->eval();
    if (top_->in_ready_o) result.faults |= 8;
    Cycle();
    top_->start_i = 0;
    top_->in_valid_i = 0;

    unsigned now = 0, first_beat = 0, quiet = 0;
    bool waiting = false;
    std::vector<uint32_t> waited(kWords);
    while (quiet < kQuietLimit) {
      const bool done = result.vectors == job.vectors;
      if (done && (result.beats == beats || quiet > 100)) break;
      const bool offer = done || random() % 100 >= job.input_stall;
      if (!top_->in_valid_i && result.beats < beats && offer) {
        Offer(stream, result.beats, beats);
      }
      top_->vec_ready_i = !done && random() % 100 >= job.output_stall;
      top_->eval();
      const bool beat = top_->in_valid_i && top_->in_ready_o;
      const bool vector = top_->vec_valid_o && top_->vec_ready_i;
      if (waiting && (!top_->vec_valid_o || std::memcmp(waited.data(), &top_->vec_o, 4 * kWords) != 0))
        result.faults |= 1;
      waiting = top_->vec_valid_o && !top_->vec_ready_i;
      std::memcpy(waited.data(), &top_->vec_o, 4 * kWords);
      if (vector) {
        Append(weights);
        result.vectors++;
        if (result.vectors == 1) result.latency = now - first_beat;
        result.cycles = now - first_beat;
      }
      if (beat && result.beats++ == 0) first_beat = now;
      Cycle();
      if (beat) top_->in_valid_i = 0;
      if (top_->error_o && result.error_at == 0) result.error_at = result.vectors;
      if (!top_->error_o && result.error_at != 0) result.faults |= 4;
      quiet = beat || vector ? 0 : quiet + 1;
      now++;
    }
    return result;
  }

 private:
  static constexpr unsigned kWords = (9 * kVecWeights + 31) / 32;

  void Cycle() {
    top_->clk_i = 0;
    top_->eval();
    top_->clk_i = 1;
    top_->eval();
  }

  void Offer(const std::vector<uint8_t>& stream, uint32_t beat, uint32_t beats) {
    std::memcpy(&top_->in_data_i, stream.data() + 8 * beat, 8);
    top_->in_last_i = beat + 1 == beats;
    top_->in_valid_i = 1;
  }

  void Stop(Result& result) {
    top_->stop_i = 1;
    top_->in_valid_i = 0;
    Cycle();
    top_->stop_i = 0;
    top_->vec_ready_i = 1;
    for (int i = 0; i < 20; i++) {
      top_->in_valid_i = 1;
      top_->in_data_i = 0;
      top_->in_last_i = i == 10;
      top_->eval();
      if (!top_->in_ready_o || top_->vec_valid_o || top_->error_o) result.faults |= 2;
      Cycle();
    }
    top_->in_valid_i = 0;
  }

  void Append(std::vector<int16_t>& weights) {
    for (unsigned k = 0; k < kVecWeights; k++) {
      const unsigned bit = 9 * k;
      uint64_t word = top_->vec_o[bit / 32];
      if (bit / 32 + 1 < kWords) word |= static_cast<uint64_t>(top_->vec_o[bit / 32 + 1]) << 32;
      const int value = (word >> (bit % 32)) & 0x1ff;
      weights.push_back(static_cast<int16_t>(value >= 256 ? value - 512 : value));
    }
  }

  std::unique_ptr<Vwd> top_;
};

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fprintf(stderr, "usage: Vwd JOBS RESULTS\n");
    return 2;
  }
  std::ifstream jobs(argv[1], std::ios::binary);
  std::ofstream results(argv[2], std::ios::binary);
  Bench bench;
  Job job;
  while (jobs.read(reinterpret_cast<char*>(&job), sizeof job)) {
    std::vector<uint8_t> stream(job.bytes);
    jobs.read(reinterpret_cast<char*>(stream.data()), job.bytes);
    std::vector<int16_t> weights;
    const Result result = bench.Run(job, stream, weights);
    results.write(reinterpret_cast<const char*>(&result), sizeof result);
    results.write(reinterpret_cast<const char*>(weights.data()), 2 * weights.size());
  }
  return results.good() ? 0 : 1;
}
