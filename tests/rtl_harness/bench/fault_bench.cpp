// SPDX-License-Identifier: Apache-2.0
// A testbench in C++ of bench_counter, as anybody writes one: it adds numbers and looks at the sum.
#include <cstdio>
#include <memory>

#include "Vtop.h"
#include "verilated.h"
#include "verilated_vpi.h"

#define RESIL_VPI
#include "resil_faults.h"

static const int kValues[] = {1, 2, 3, 4, 5, 6};
double sc_time_stamp() { return 0; }

static resil::Status run(const resil::Fault* fault) {
  VerilatedContext context;
  Verilated::threadContextp(&context);
  Vtop top{&context, "TOP"};
  bool alarm = false;
  std::uint64_t cycle = 0;
  const auto edge = [&](int level) {
    top.clk_i = level;
    top.eval();
    if (!level) return;
    if (fault != nullptr && fault->time == cycle) {
      resil::Bit(fault->site, "u_dut", "TOP.bench_counter").flip();
      top.eval();
    }
    alarm |= top.parity_o;
    ++cycle;
  };
  top.rst_ni = 0;
  edge(0);
  edge(1);
  edge(0);
  top.rst_ni = 1;
  int sum = 0;
  for (int value : kValues) {
    top.valid_i = 1;
    top.data_i = value;
    sum += value;
    edge(1);
    edge(0);
  }
  top.valid_i = 0;
  for (int i = 0; i < 2; ++i) {
    edge(1);
    edge(0);
  }
  const bool right = top.sum_o == sum;
  top.final();
  if (alarm) return resil::Status::Detected;
  return right ? resil::Status::Safe : resil::Status::Observed;
}

int main(int argc, char** argv) {
  try {
    if (run(nullptr) != resil::Status::Safe) throw std::runtime_error("the run without a fault is wrong");
    const auto faults = resil::read_faults(argv[1]);
    resil::Results results(argv[2]);
    for (const auto& fault : faults) results.add(fault, run(&fault));
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
  return 0;
}
