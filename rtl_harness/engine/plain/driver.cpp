// SPDX-License-Identifier: Apache-2.0
// A fault injector: one copy of the process for each fault, every run simulated to its end.
//
// It reads one job, text of a word and numbers a line (see job.py), and appends one line of text for each run to
// a file. The design is reached by name alone, through the simulator that is included. It shares no code with the
// engines that answer fast.
//
// In a cycle: clock up, settle; here a fault strikes, and the design settles again; outputs are looked at; clock
// down, settle. Cycle 0 has the first rising edge after reset was released.
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>
#ifdef __linux__
#include <sys/prctl.h>
#endif

#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#ifndef RESIL_SIMULATOR
#define RESIL_SIMULATOR "verilated_simulator.h"
#endif
#include RESIL_SIMULATOR

namespace {

// A storage element: a variable, or bits of it from `low` up.
struct Element {
    std::string name;
    int width = 0, low = 0;
    bool latch = false;  // loses a flip while it is open
    std::vector<Variable> words;
    std::vector<Words> kept;  // of each word, the bits that are this element's and that hardware has
};

struct Memory {
    std::string name;
    int word_bytes = 0;
    bool observed = false;
    std::vector<Variable> words;
};

struct Output {
    size_t memory;
    uint64_t offset, size;
};

struct Place {
    size_t element, word;
    int bit;
};

struct Fault {
    uint64_t number = 0, cycle = 0, limit = 0, rest = 0, allowed = 0, moved = 0, counter = 0;
    int held = -1;  // 0 or 1, or -1 of an upset
    std::vector<Place> places;
};

using State = std::vector<Words>;

class Machine {
  public:
    explicit Machine(int argc, char** argv) : simulator_(argc, argv) {}

    void read(std::istream& job);
    void reset();
    void work();

  private:
    Simulator simulator_;
    std::string name_;
    Variable clock_, reset_, done_, status_, operation_, inferences_;
    bool active_low_ = true, has_status_ = false, has_operation_ = false, has_inferences_ = false;
    int reset_cycles_ = 0, results_ = -1, processes_ = 1;
    uint64_t golden_limit_ = 0;
    std::vector<std::string> alarm_names_;
    std::vector<Variable> alarms_;
    std::vector<Element> elements_;
    std::vector<Memory> memories_;
    std::vector<Output> outputs_;
    std::vector<Fault> faults_;
    State golden_state_, golden_first_;  // at the end of the run, and at that of the first of two inferences
    std::vector<int64_t> rises_;
    uint64_t cycle_ = 0;

    Variable port(const std::string& name) { return simulator_.variable(name_ + "." + name); }
    void read_element(std::istringstream& words);
    void read_memory(std::istringstream& words);
    void read_fault(std::istringstream& words);
    void settle() { simulator_.settle(); }
    void clock(int level) {
        clock_.write({static_cast<uint32_t>(level)});
        settle();
        simulator_.pass();
    }
    void look();
    State state() const;
    std::string outputs() const;
    void keep(const char* name, const State& state) const;
    State kept(const char* name) const;
    std::string end(bool finished, uint64_t cycles) const;
    void golden();
    void invert(const Fault& fault);
    void hold(const Fault& fault);
    bool differs(const Fault& fault, const State& golden) const;
    void run_fault(const Fault& fault);
    void write(const std::string& line) const;
};

void Machine::read(std::istream& job) {
    std::string line, key, name;
    while (std::getline(job, line)) {
        std::istringstream words(line);
        words >> key;
        if (key == "top") {
            words >> name_;
        } else if (key == "clock") {
            words >> name;
            clock_ = port(name);
        } else if (key == "reset") {
            words >> name >> active_low_ >> reset_cycles_;
            reset_ = port(name);
        } else if (key == "done") {
            words >> name;
            done_ = port(name);
        } else if (key == "status") {
            words >> name;
            status_ = port(name), has_status_ = true;
        } else if (key == "operation") {
            words >> name;
            operation_ = port(name), has_operation_ = true;
        } else if (key == "inferences") {
            words >> name;
            inferences_ = port(name), has_inferences_ = true;
        } else if (key == "alarm") {
            words >> name;
            alarm_names_.push_back(name);
            alarms_.push_back(port(name));
        } else if (key == "element") {
            read_element(words);
        } else if (key == "absent") {
            size_t element, word;
            int bit;
            words >> element >> word >> bit;
            bit += elements_.at(element).low;
            elements_[element].kept.at(word).at(bit / 32) &= ~(1u << (bit % 32));
        } else if (key == "memory") {
            read_memory(words);
        } else if (key == "output") {
            Output output{};
            words >> output.memory >> output.offset >> output.size;
            outputs_.push_back(output);
        } else if (key == "golden") {
            words >> golden_limit_;
        } else if (key == "processes") {
            words >> processes_;
        } else if (key == "fault") {
            read_fault(words);
        } else {
            fail("unknown line of the job: " + line);
        }
        if (!words && !words.eof()) fail("a damaged line of the job: " + line);
    }
    rises_.assign(alarms_.size(), -1);
    results_ = open("results", O_WRONLY | O_CREAT | O_APPEND, 0600);
    if (results_ < 0) fail("the results cannot be written");
}

void Machine::read_element(std::istringstream& words) {
    Element element;
    int packed, is_array, depth, first;
    words >> element.name >> element.width >> element.low >> packed >> element.latch >> is_array >> depth >> first;
    const std::string name = name_ + "." + element.name;
    if (!is_array)
        element.words.push_back(simulator_.variable(name));
    else
        element.words = simulator_.words(name, first, depth);
    if (element.words[0].width != packed)
        fail(name + " has " + std::to_string(element.words[0].width) + " bits, not " + std::to_string(packed));
    Words kept((packed + 31) / 32);
    for (int bit = element.low; bit < element.low + element.width; ++bit) kept.at(bit / 32) |= 1u << (bit % 32);
    element.kept.assign(element.words.size(), kept);
    elements_.push_back(std::move(element));
}

void Machine::read_memory(std::istringstream& words) {
    Memory memory;
    std::string path;
    int count, first;
    words >> memory.name >> path >> memory.word_bytes >> memory.observed >> count >> first;
    memory.words = simulator_.words(name_ + "." + path, first, count);
    memories_.push_back(std::move(memory));
}

void Machine::read_fault(std::istringstream& words) {
    Fault fault;
    size_t places;
    words >> fault.number >> fault.cycle >> fault.held >> fault.limit >> fault.rest >> fault.allowed >> fault.moved >>
        fault.counter >> places;
    for (; places; --places) {
        Place place{};
        words >> place.element >> place.word >> place.bit;
        if (words) place.bit += elements_.at(place.element).low;
        fault.places.push_back(place);
    }
    if (!words) fail("a damaged fault of the job");
    faults_.push_back(std::move(fault));
}

void Machine::reset() {
    const uint32_t active = active_low_ ? 0 : 1;
    clock_.write({0});
    reset_.write({1 - active});
    settle();
    reset_.write({active});
    settle();
    for (int edge = 0; edge < reset_cycles_; ++edge) clock(1), clock(0);
    reset_.write({1 - active});
    settle();
}

// Takes note of alarms that are up.
void Machine::look() {
    for (size_t alarm = 0; alarm < alarms_.size(); ++alarm)
        if (rises_[alarm] < 0 && alarms_[alarm].number()) rises_[alarm] = static_cast<int64_t>(cycle_);
}

State Machine::state() const {
    State state;
    for (const Element& element : elements_)
        for (const Variable& word : element.words) state.push_back(word.read());
    for (const Memory& memory : memories_)
        if (memory.observed)
            for (const Variable& word : memory.words) state.push_back(word.read());
    return state;
}

std::string Machine::outputs() const {
    static const char* const digits = "0123456789abcdef";
    std::string text;
    for (const Output& output : outputs_) {
        const Memory& memory = memories_.at(output.memory);
        for (uint64_t at = output.offset; at < output.offset + output.size; ++at) {
            const Words word = memory.words.at(at / memory.word_bytes).read();
            const int byte = static_cast<int>(at % memory.word_bytes);
            const uint32_t value = word.at(byte / 4) >> (8 * (byte % 4)) & 0xff;
            text += digits[value >> 4];
            text += digits[value & 15];
        }
    }
    return text;
}

std::string Machine::end(bool finished, uint64_t cycles) const {
    std::ostringstream text;
    text << " " << finished << " " << cycles << " " << (has_status_ ? status_.number() : 0) << " " << outputs();
    for (const int64_t rise : rises_) text << " " << rise;
    return text.str();
}

void Machine::write(const std::string& line) const {
    const std::string whole = line + "\n";
    if (::write(results_, whole.data(), whole.size()) != static_cast<ssize_t>(whole.size())) _exit(3);
}

void Machine::keep(const char* name, const State& state) const {
    std::ofstream file(name, std::ios::binary);
    for (const Words& word : state)
        file.write(reinterpret_cast<const char*>(word.data()), static_cast<std::streamsize>(4 * word.size()));
    file.close();
    if (!file) _exit(3);
}

State Machine::kept(const char* name) const {
    State state = this->state();
    std::ifstream file(name, std::ios::binary);
    for (Words& word : state)
        file.read(reinterpret_cast<char*>(word.data()), static_cast<std::streamsize>(4 * word.size()));
    if (!file) fail("a state of the golden run cannot be read");
    return state;
}

// The run without a fault; prints its end, and every move of the counter of operations.
void Machine::golden() {
    std::ostringstream moves;
    uint64_t counter = has_operation_ ? operation_.number() : 0;
    moves << " 0 " << counter;
    std::string first = " -";
    for (cycle_ = 0; cycle_ < golden_limit_; ++cycle_) {
        clock(1);
        look();
        if (has_operation_ && operation_.number() != counter)
            moves << " " << cycle_ + 1 << " " << (counter = operation_.number());
        const bool done = done_.number();
        if (has_inferences_ && first == " -" && !done && inferences_.number()) {
            first = " +" + end(true, cycle_ + 1);
            keep("first", state());
        }
        if (done) break;
        clock(0);
    }
    const bool finished = cycle_ < golden_limit_;
    golden_state_ = state();
    write("golden" + end(finished, cycle_ + finished) + first + " moves" + moves.str());
}

void Machine::invert(const Fault& fault) {
    for (const Place& place : fault.places) {
        const Variable& word = elements_.at(place.element).words.at(place.word);
        Words value = word.read();
        value.at(place.bit / 32) ^= 1u << (place.bit % 32);
        word.write(value);
        if (word.read() != value && !elements_[place.element].latch)
            fail("a flip did not take: " + elements_[place.element].name);
    }
    settle();
}

void Machine::hold(const Fault& fault) {
    for (const Place& place : fault.places) {
        const Variable& word = elements_.at(place.element).words.at(place.word);
        Words value = word.read();
        const uint32_t mask = 1u << (place.bit % 32);
        uint32_t& part = value.at(place.bit / 32);
        part = fault.held ? part | mask : part & ~mask;
        word.write(value);
    }
    settle();
}

// Whether anything that hardware keeps differs from a state of the golden run; a bit that is held does not count.
bool Machine::differs(const Fault& fault, const State& golden) const {
    const State now = state();
    size_t at = 0;
    for (size_t e = 0; e < elements_.size(); ++e) {
        for (size_t w = 0; w < elements_[e].words.size(); ++w, ++at) {
            Words difference = now[at];
            for (size_t i = 0; i < difference.size(); ++i) {
                difference[i] = (difference[i] ^ golden[at][i]) & elements_[e].kept[w][i];
            }
            if (fault.held >= 0)
                for (const Place& place : fault.places)
                    if (place.element == e && place.word == w) difference[place.bit / 32] &= ~(1u << (place.bit % 32));
            for (const uint32_t part : difference)
                if (part) return true;
        }
    }
    for (; at < now.size(); ++at)
        if (now[at] != golden[at]) return true;
    return false;
}

// From the middle of the fault's cycle, with the clock up and settled, to the end; of a held bit from cycle 0 on.
void Machine::run_fault(const Fault& fault) {
    const bool held = fault.held >= 0;
    uint64_t limit = fault.limit, moved = fault.moved, counter = fault.counter;
    std::string first = " -";
    bool finished = false;
    uint64_t last = limit;
    if (held) {
        hold(fault);
        if (fault.allowed) counter = operation_.number();
        cycle_ = 0;
        clock(1);
        hold(fault);
    } else {
        invert(fault);
    }
    while (true) {
        look();
        if (done_.number()) {
            finished = true;
            break;
        }
        if (fault.allowed && operation_.number() != counter) counter = operation_.number(), moved = cycle_ + 1;
        if (has_inferences_ && fault.rest && first == " -" && inferences_.number()) {
            first = " +" + end(true, cycle_ + 1) + " " + std::to_string(differs(fault, golden_first_));
            limit = cycle_ + 1 + fault.rest;
        }
        last = fault.allowed && moved + fault.allowed < limit ? moved + fault.allowed : limit;
        if (cycle_ + 1 >= last) break;
        clock(0);
        if (held) hold(fault);
        ++cycle_;
        clock(1);
        if (held) hold(fault);
    }
    std::ostringstream line;
    line << "run " << fault.number << end(finished, finished ? cycle_ + 1 : last) << " " << differs(fault, golden_state_) << first;
    write(line.str());
}

// Walks through the run without a fault and makes a copy of itself at each fault; those in order of their cycles.
void Machine::work() {
    settle();
    const pid_t whole = fork();
    if (whole < 0) fail("no process can be made");
    if (!whole) {
        golden();
        // What the end of the run is, its copies have to know; so they are made by who knows it, from the start.
        keep("state", golden_state_);
        _exit(0);
    }
    int status = 0;
    waitpid(whole, &status, 0);
    if (status) fail("the golden run broke off");
    golden_state_ = kept("state");
    if (has_inferences_ && access("first", F_OK) == 0) golden_first_ = kept("first");

    int running = 0;
    const auto reap = [&] {
        int code = 0;
        if (wait(&code) > 0) --running;
        if (code) fail("a run broke off");
    };
    cycle_ = 0;
    bool up = false;
    const pid_t parent = getpid();
    for (const Fault& fault : faults_) {
        if (fault.held < 0) {
            while (!up || cycle_ < fault.cycle) {
                if (up) clock(0), ++cycle_;
                clock(1);
                up = true;
                look();
            }
        }
        while (running >= processes_) reap();
        const pid_t child = fork();
        if (child < 0) fail("no process can be made");
        if (!child) {
#ifdef __linux__
            prctl(PR_SET_PDEATHSIG, SIGKILL);
#endif
            if (getppid() != parent) _exit(3);
            // Alarms that were up in the fault's cycle before it struck are looked at anew, after it.
            for (int64_t& rise : rises_)
                if (rise == static_cast<int64_t>(cycle_)) rise = -1;
            run_fault(fault);
            _exit(0);
        }
        ++running;
    }
    while (running) reap();
}

}  // namespace

int main(int argc, char** argv) {
    Machine machine(argc, argv);
    std::ifstream job("job");
    if (!job) fail("there is no job");
    machine.read(job);
    machine.reset();
    machine.work();
    return 0;
}
