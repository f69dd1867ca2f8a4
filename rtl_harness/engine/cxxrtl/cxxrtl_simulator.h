// SPDX-License-Identifier: Apache-2.0
// A design as Yosys writes it in C++ (CXXRTL), reached by the names of its nets. Nothing of it is Verilator's.
//
// A name "TOP.NET@LOW:WIDTH" is a part of a net. Memories of the bench are filled from the files of arguments
// "+NAME=FILE", as lines "load NET FILE" of the file "cxxrtl" say; lines "set NET VALUE" set registers that the
// initial blocks of a bench would.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "design.h"

namespace {

[[noreturn]] void fail(const std::string& why) {
    std::cerr << "cxxrtl: " << why << std::endl;
    std::exit(2);
}

using Words = std::vector<uint32_t>;

// Bits of a net: where each lies, in what holds it now and in what it becomes.
struct Variable {
    struct Part {
        uint32_t *now, *next;
        int low, width;  // of its bits in the chunks
    };
    std::vector<Part> parts;
    int width = 0;

    Words read() const {
        Words words((width + 31) / 32);
        int at = 0;
        for (const Part& part : parts)
            for (int done = 0; done < part.width;) {
                const int from = part.low + done;
                const int some = std::min({32 - from % 32, 32 - at % 32, part.width - done});
                const uint32_t mask = some == 32 ? ~0u : (1u << some) - 1;
                words[at / 32] |= (part.now[from / 32] >> (from % 32) & mask) << (at % 32);
                at += some, done += some;
            }
        return words;
    }

    uint64_t number() const {
        const Words words = read();
        return words[0] | (words.size() > 1 ? uint64_t{words[1]} << 32 : 0);
    }

    void write(const Words& words) const {
        int at = 0;
        for (const Part& part : parts)
            for (int bit = part.low; bit < part.low + part.width; ++bit, ++at) {
                const uint32_t mask = 1u << (bit % 32);
                const bool up = words.at(at / 32) >> (at % 32) & 1;
                for (uint32_t* chunks : {part.now, part.next})
                    if (chunks) chunks[bit / 32] = up ? chunks[bit / 32] | mask : chunks[bit / 32] & ~mask;
            }
    }
};

class Simulator {
  public:
    Simulator(int argc, char** argv) {
        (void)argc, (void)argv;
        design_.debug_info(&items_, nullptr, "");
        for (const auto& [name, parts] : items_.table)
            for (const cxxrtl::debug_item& item : parts)
                if (item.type == cxxrtl::debug_item::WIRE) held_[item.curr] = item.next;
        std::ifstream file("cxxrtl");
        std::string line, key, net, value;
        while (std::getline(file, line)) {
            std::istringstream said(line);
            said >> key >> net >> value;
            if (key == "load")
                load(net, value);
            else if (key == "set")
                part(net).write({static_cast<uint32_t>(std::stoull(value)), static_cast<uint32_t>(std::stoull(value) >> 32)});
            else
                fail("unknown line: " + line);
        }
        settle();
    }

    // Until nothing that holds a value changes any more: what depends on it has then been evaluated, too.
    void settle() {
        do design_.eval();
        while (design_.commit());
    }
    void pass() {}
    Variable variable(const std::string& name) { return part(without_top(name)); }

    std::vector<Variable> words(const std::string& name, int first, int count) {
        const cxxrtl::debug_item& memory = array(without_top(name));
        const size_t chunks = (memory.width + 31) / 32;
        std::vector<Variable> found;
        for (int word = first; word < first + count; ++word) {
            const size_t row = word - memory.zero_at;
            if (row >= memory.depth) fail("no such word: " + name);
            Variable one;
            one.width = static_cast<int>(memory.width);
            one.parts.push_back({memory.curr + row * chunks, nullptr, 0, one.width});
            found.push_back(one);
        }
        return found;
    }

  private:
    cxxrtl_design::RESIL_TOP design_;
    cxxrtl::debug_items items_;
    std::map<const uint32_t*, uint32_t*> held_;  // what becomes of what holds a net now

    static std::string without_top(const std::string& name) { return name.substr(name.find('.') + 1); }

    const std::vector<cxxrtl::debug_item>& named(const std::string& net) {
        std::string spaced = net;
        for (char& letter : spaced)
            if (letter == '.') letter = ' ';
        for (const std::string& name : {net, spaced})
            if (items_.count(name)) return items_.at(name);
        fail("no such net: " + net);
    }

    const cxxrtl::debug_item& array(const std::string& net) {
        const auto& parts = named(net.substr(0, net.find('@')));
        if (parts.size() != 1 || parts[0].type != cxxrtl::debug_item::MEMORY) fail("no array: " + net);
        return parts[0];
    }

    Variable part(const std::string& name) {
        const size_t at = name.find('@');
        const auto& parts = named(name.substr(0, at));
        // Items count bits as the source does, which may begin at another index than 0.
        const int base = static_cast<int>(parts.front().lsb_at);
        int low = base, width = 0;
        for (const cxxrtl::debug_item& item : parts)
            width = std::max(width, static_cast<int>(item.lsb_at + item.width) - base);
        if (at != std::string::npos) {
            low = base + std::atoi(name.c_str() + at + 1);
            width = std::atoi(name.c_str() + name.find(':', at) + 1);
        }
        Variable found;
        found.width = width;
        int covered = 0;
        for (const cxxrtl::debug_item& item : parts) {
            const int from = std::max<int>(low, item.lsb_at);
            const int to = std::min<int>(low + width, item.lsb_at + item.width);
            if (from >= to) continue;
            uint32_t* next = item.next;
            if (!next && held_.count(item.curr)) next = held_.at(item.curr);
            found.parts.push_back({item.curr, next, from - static_cast<int>(item.lsb_at), to - from});
            covered += to - from;
        }
        if (covered != width) fail("not all of it is a net: " + name);
        return found;
    }

    void load(const std::string& net, const std::string& path) {
        const cxxrtl::debug_item& memory = array(net);
        const size_t chunks = (memory.width + 31) / 32;
        std::ifstream file(path);
        if (!file) fail("no such file: " + path);
        std::string text;
        for (size_t row = 0; file >> text; ++row) {
            if (row >= memory.depth) fail("more words than the memory has: " + path);
            uint32_t* word = memory.curr + row * chunks;
            std::fill(word, word + chunks, 0);
            int digit = 0;
            for (auto letter = text.rbegin(); letter != text.rend(); ++letter, ++digit) {
                const char sign = *letter;
                const uint32_t value = sign <= '9' ? sign - '0' : (sign | 32) - 'a' + 10;
                word[digit / 8] |= value << (4 * (digit % 8));
            }
        }
    }
};

}  // namespace
