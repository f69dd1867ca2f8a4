// SPDX-License-Identifier: Apache-2.0
// Runs a testbench that drives itself, and inverts bits of storage: +flip=TIME,PATH,BIT after all else at that time
// has settled. PATH is as VPI has it; of a word of a memory with its index. No part of resil's engines is in it.
#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

#include "Vtb.h"
#include "verilated.h"
#include "verilated_vpi.h"
#include "vpi_user.h"

namespace {

void flip(const std::string& path, int bit) {
    vpiHandle const handle = vpi_handle_by_name(const_cast<char*>(path.c_str()), nullptr);
    if (!handle) {
        std::fprintf(stderr, "no signal %s\n", path.c_str());
        std::exit(3);
    }
    s_vpi_value value;
    value.format = vpiBinStrVal;
    vpi_get_value(handle, &value);
    std::string digits = value.value.str;
    char& digit = digits[digits.size() - 1 - bit];
    digit = digit == '1' ? '0' : '1';
    value.value.str = digits.data();
    vpi_put_value(handle, &value, nullptr, vpiNoDelay);
}

}  // namespace

int main(int argc, char** argv) {
    VerilatedContext context;
    context.commandArgs(argc, argv);
    context.traceEverOn(true);
    Vtb top{&context, ""};
    uint64_t moment = UINT64_MAX;
    std::string path;
    int bit = 0;
    for (int i = 1; i < argc; ++i) {
        if (std::strncmp(argv[i], "+flip=", 6) != 0) continue;
        const std::string text = argv[i] + 6;
        const size_t one = text.find(','), two = text.rfind(',');
        moment = std::strtoull(text.c_str(), nullptr, 10);
        path = text.substr(one + 1, two - one - 1);
        bit = std::atoi(text.c_str() + two + 1);
    }
    while (!context.gotFinish()) {
        top.eval();
        const bool more = top.eventsPending();
        const uint64_t next = more ? top.nextTimeSlot() : UINT64_MAX;
        if (moment < next && context.time() <= moment) {
            context.time(moment);
            flip(path, bit);
            top.eval();
            moment = UINT64_MAX;
        }
        if (!more) break;
        context.time(next);
    }
    top.final();
    return 0;
}
