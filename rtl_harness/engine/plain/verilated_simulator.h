// SPDX-License-Identifier: Apache-2.0
// A design verilated as it comes, reached by name through VPI.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include "Vtop.h"
#include "verilated.h"
#include "verilated_vpi.h"

namespace {

[[noreturn]] void fail(const std::string& why) {
    std::cerr << "plain: " << why << std::endl;
    std::exit(2);
}

using Words = std::vector<uint32_t>;

// A variable of the design, or one word of an array.
struct Variable {
    vpiHandle handle = nullptr;
    int width = 0;

    Words read() const {
        s_vpi_value value{};
        value.format = vpiVectorVal;
        vpi_get_value(handle, &value);
        Words words((width + 31) / 32);
        for (size_t i = 0; i < words.size(); ++i) words[i] = static_cast<uint32_t>(value.value.vector[i].aval);
        if (width % 32) words.back() &= (1u << (width % 32)) - 1;
        return words;
    }

    uint64_t number() const {
        const Words words = read();
        return words[0] | (words.size() > 1 ? uint64_t{words[1]} << 32 : 0);
    }

    void write(const Words& words) const {
        std::vector<s_vpi_vecval> vector(words.size());
        for (size_t i = 0; i < words.size(); ++i) {
            vector[i].aval = static_cast<decltype(vector[i].aval)>(words[i]);
            vector[i].bval = 0;
        }
        s_vpi_value value{};
        value.format = vpiVectorVal;
        value.value.vector = vector.data();
        vpi_put_value(handle, &value, nullptr, vpiNoDelay);
    }
};

Variable variable(vpiHandle handle, const std::string& name) {
    if (!handle) fail("no such variable: " + name);
    return {handle, vpi_get(vpiSize, handle)};
}

// Indices that end a name, as of "regs_q[3][1]".
std::vector<int> indices_of(std::string& name) {
    std::vector<int> found;
    while (!name.empty() && name.back() == ']') {
        const size_t open = name.rfind('[');
        found.insert(found.begin(), std::atoi(name.c_str() + open + 1));
        name.resize(open);
    }
    return found;
}

vpiHandle find(std::string name) {
    if (vpiHandle whole = vpi_handle_by_name(const_cast<char*>(name.c_str()), nullptr)) return whole;
    const std::vector<int> indices = indices_of(name);
    vpiHandle handle = vpi_handle_by_name(const_cast<char*>(name.c_str()), nullptr);
    for (const int index : indices) handle = handle ? vpi_handle_by_index(handle, index) : nullptr;
    return handle;
}

class Simulator {
  public:
    Simulator(int argc, char** argv) {
        context_.commandArgs(argc, argv);
        top_ = std::make_unique<Vtop>(&context_, "");
        top_->eval_step();
    }
    void settle() { top_->eval_step(); }
    // Half a period of the clock is over.
    void pass() { context_.timeInc(5); }
    Variable variable(const std::string& name) { return ::variable(find(name), name); }
    // Words of an array, from the one that the source calls `first` on.
    std::vector<Variable> words(const std::string& name, int first, int count) {
        vpiHandle handle = find(name);
        if (!handle) fail("no such array: " + name);
        std::vector<Variable> found;
        for (int word = first; word < first + count; ++word)
            found.push_back(::variable(vpi_handle_by_index(handle, word), name));
        return found;
    }

  private:
    VerilatedContext context_;
    std::unique_ptr<Vtop> top_;
};

}  // namespace
