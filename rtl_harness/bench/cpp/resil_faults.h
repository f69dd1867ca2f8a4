// SPDX-License-Identifier: Apache-2.0
// Fault lists for testbenches in C++: reads what `resil run --faults` reads, writes what `resil import` takes.
//
// One header, C++17, no library. With RESIL_VPI defined it reaches bits by name through VPI as well, in any
// simulator that has it: of Verilator the design has to be built with --vpi and --public-flat-rw.
//
//   const auto faults = resil::read_faults("faults.csv");
//   resil::Results results("results.csv");
//   for (const auto& fault : faults) results.add(fault, run_with(fault) ? resil::Status::Safe
//                                                                        : resil::Status::Observed);
#ifndef RESIL_FAULTS_H
#define RESIL_FAULTS_H

#include <algorithm>
#include <cctype>
#include <cstdint>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#ifdef RESIL_VPI
#include "vpi_user.h"
#endif

namespace resil {

/// What a fault list calls the fault: a bit inverted once, or held at a value from the reset on.
enum class Type { Upset, StuckAt0, StuckAt1 };

/// What came of a fault; the words of `resil import`.
enum class Status { Detected, Observed, Latent, Safe, Untestable };

/// A row of a fault list.
struct Fault {
  std::string site;            ///< Name of the bit, `u_dut.u_taps.tap_q[5]`.
  Type type = Type::Upset;
  std::uint64_t time = 0;      ///< Cycle of an upset; 0 of a stuck bit.
  std::string input;           ///< Label of the input; "" for the first.
  std::string weight;          ///< Faults that it stands for, as the list has it; "" if it has none.
};

inline const char* text(Type type) {
  switch (type) {
    case Type::StuckAt0: return "stuck_at_0";
    case Type::StuckAt1: return "stuck_at_1";
    default: return "upset";
  }
}

inline const char* text(Status status) {
  switch (status) {
    case Status::Detected: return "detected";
    case Status::Observed: return "observed";
    case Status::Latent: return "latent";
    case Status::Safe: return "safe";
    default: return "untestable";
  }
}

namespace detail {

inline std::string stripped(const std::string& own) {
  const auto first = own.find_first_not_of(" \t\r\"");
  if (first == std::string::npos) return "";
  return own.substr(first, own.find_last_not_of(" \t\r\"") - first + 1);
}

inline std::string lower(std::string own) {
  std::transform(own.begin(), own.end(), own.begin(), [](unsigned char c) { return std::tolower(c); });
  return own;
}

inline std::vector<std::string> split(const std::string& line, char at) {
  std::vector<std::string> parts(1);
  for (char c : line) {
    if (c == at) parts.emplace_back();
    else parts.back() += c;
  }
  for (auto& part : parts) part = stripped(part);
  return parts;
}

inline Type type_of(const std::string& text) {
  const std::string own = lower(text);
  for (const char* name : {"", "upset", "seu", "flip", "bit_flip", "bitflip", "transient"})
    if (own == name) return Type::Upset;
  for (const char* name : {"stuck_at_0", "sa0", "stuck-at-0", "stuck_0", "s-a-0"})
    if (own == name) return Type::StuckAt0;
  for (const char* name : {"stuck_at_1", "sa1", "stuck-at-1", "stuck_1", "s-a-1"})
    if (own == name) return Type::StuckAt1;
  throw std::runtime_error("type: expected upset, stuck_at_0 or stuck_at_1, found \"" + text + "\"");
}

inline std::uint64_t number(const std::string& text) {
  if (text.empty() || text.size() > 19 || !std::all_of(text.begin(), text.end(), ::isdigit))
    throw std::runtime_error("time: expected the cycle of the upset, found \"" + text + "\"");
  return std::stoull(text);
}

/// A bench flips the bit of the site: that would be another fault than an upset of several.
inline void require_one_bit(const std::string& text) {
  if (!text.empty() && text != "1")
    throw std::runtime_error("bits: expected upsets of 1 bit, which a bench in C++ can inject, found \"" + text +
                             "\"; leave it out, or inject the list with resil run --faults");
}

}  // namespace detail

/// Read a fault list: a CSV file with a head, or a fault a line: site, type, time, input; weights, if there are some.
/// Throws std::runtime_error with file, row and what is wrong; a list without a fault is an error.
inline std::vector<Fault> read_faults(const std::string& file) {
  std::ifstream stream(file);
  if (!stream) throw std::runtime_error(file + ": expected a fault list, found no file; correct the path");
  std::vector<Fault> faults;
  std::vector<std::string> columns;
  bool first = true;
  int row = 0;
  for (std::string line; std::getline(stream, line);) {
    if (line.rfind("\xef\xbb\xbf", 0) == 0) line = line.substr(3);
    const std::string bare = detail::stripped(line);
    if (bare.empty() || bare[0] == '#') continue;
    auto parts = detail::split(line, ',');
    if (first) {
      first = false;
      for (const auto& part : parts) columns.push_back(detail::lower(part));
      if (std::count(columns.begin(), columns.end(), "site")) continue;
      columns.clear();
    }
    ++row;
    std::vector<std::string> names = columns;
    if (columns.empty()) {
      std::replace(line.begin(), line.end(), ',', ' ');
      std::istringstream words(line);
      parts.clear();
      std::vector<std::string> named, values;
      for (std::string word; words >> word;) {
        const auto at = word.find('=');
        if (at == std::string::npos) {
          parts.push_back(word);
          continue;
        }
        named.push_back(detail::lower(word.substr(0, at)));
        values.push_back(word.substr(at + 1));
      }
      names = {"site", "type", "time", "input", "status"};
      // What has its name before it comes behind the others; too many of those are still too many.
      if (parts.size() <= names.size()) {
        names.resize(parts.size());
        names.insert(names.end(), named.begin(), named.end());
        parts.insert(parts.end(), values.begin(), values.end());
      }
    }
    try {
      if (parts.size() > names.size()) throw std::runtime_error("expected no more columns than the head has");
      std::string type, time;
      Fault fault;
      for (std::size_t i = 0; i < parts.size(); ++i) {
        if (names[i] == "site") fault.site = parts[i];
        if (names[i] == "type") type = parts[i];
        if (names[i] == "time") time = parts[i];
        if (names[i] == "input") fault.input = parts[i];
        if (names[i] == "weight") fault.weight = parts[i];
        if (names[i] == "bits") detail::require_one_bit(parts[i]);
      }
      if (fault.site.empty()) throw std::runtime_error("expected a site, found none");
      fault.type = detail::type_of(type);
      if (fault.type == Type::Upset) fault.time = detail::number(time);
      faults.push_back(fault);
    } catch (const std::runtime_error& error) {
      throw std::runtime_error(file + ": row " + std::to_string(row) + ": " + error.what() + "; correct the list");
    }
  }
  if (faults.empty()) throw std::runtime_error(file + ": expected at least one fault, found none; list faults");
  return faults;
}

/// The file of results: a row is there, whole, as soon as it was added.
class Results {
 public:
  explicit Results(const std::string& file) : file_(file), stream_(file, std::ios::trunc) {
    write("site,type,time,input,status,weight\n");
  }

  /// Throws std::runtime_error if the row cannot be written.
  void add(const Fault& fault, Status status) {
    const bool upset = fault.type == Type::Upset;
    write(fault.site + "," + text(fault.type) + "," + (upset ? std::to_string(fault.time) : "") + "," +
          fault.input + "," + text(status) + "," + fault.weight + "\n");
  }

 private:
  void write(const std::string& row) {
    stream_ << row << std::flush;
    if (!stream_) throw std::runtime_error(file_ + ": a row could not be written; look at the disk");
  }

  std::string file_;
  std::ofstream stream_;
};

#ifdef RESIL_VPI

/// One bit of the design, by its name in a fault list.
class Bit {
 public:
  /// `site` begins with the instance `from` of the list (`u_dut`), which is `to` in this simulation (`tb.dut`).
  /// Throws std::runtime_error if the simulator has no such bit.
  Bit(const std::string& site, const std::string& from, const std::string& to) {
    if (site.rfind(from + ".", 0) != 0)
      throw std::runtime_error(site + ": expected a site in " + from + "; name the instance that the list has");
    std::string name = to + site.substr(from.size());
    std::vector<int> indices;
    while (!name.empty() && name.back() == ']') {
      const auto open = name.rfind('[');
      if (open == std::string::npos) break;
      indices.insert(indices.begin(), std::stoi(name.substr(open + 1)));
      name = name.substr(0, open);
      // An index may be part of the name: an instance of an array, or a generate block.
      if (vpiHandle found = by_name(name)) {
        take(found, indices, site);
        return;
      }
    }
    throw std::runtime_error(site + ": expected a bit of the simulation, found none; build with --vpi "
                             "--public-flat-rw, or give the instance as it is called there");
  }

  bool value() const { return (aval(word()) >> (bit_ % 32)) & 1; }

  /// Invert it. Let the model evaluate afterwards.
  void flip() { set(!value()); }

  void set(bool high) {
    std::vector<s_vpi_vecval> words = read();
    const PLI_INT32 mask = static_cast<PLI_INT32>(1u << (bit_ % 32));
    auto& own = words[bit_ / 32].aval;
    own = high ? own | mask : own & ~mask;
    s_vpi_value value{};
    value.format = vpiVectorVal;
    value.value.vector = words.data();
    vpi_put_value(handle_, &value, nullptr, vpiNoDelay);
  }

 private:
  static vpiHandle by_name(const std::string& name) {
    std::string own = name;
    return vpi_handle_by_name(own.data(), nullptr);
  }

  void take(vpiHandle found, const std::vector<int>& indices, const std::string& site) {
    for (std::size_t i = 0; i + 1 < indices.size(); ++i) {
      found = vpi_handle_by_index(found, indices[i]);
      if (found == nullptr) throw std::runtime_error(site + ": expected a word of an array, found none there");
    }
    handle_ = found;
    const int size = vpi_get(vpiSize, handle_);
    const int low = bound(vpiRightRange), high = bound(vpiLeftRange);
    bit_ = high >= low ? indices.back() - low : low - indices.back();
    if (bit_ < 0 || bit_ >= size) throw std::runtime_error(site + ": expected a bit of the word, found none there");
  }

  int bound(PLI_INT32 side) const {
    vpiHandle range = vpi_handle(side, handle_);
    if (range == nullptr) return side == vpiRightRange ? 0 : vpi_get(vpiSize, handle_) - 1;
    s_vpi_value value{};
    value.format = vpiIntVal;
    vpi_get_value(range, &value);
    return value.value.integer;
  }

  std::vector<s_vpi_vecval> read() const {
    s_vpi_value value{};
    value.format = vpiVectorVal;
    vpi_get_value(handle_, &value);
    return {value.value.vector, value.value.vector + (vpi_get(vpiSize, handle_) + 31) / 32};
  }

  s_vpi_vecval word() const { return read()[bit_ / 32]; }
  static std::uint32_t aval(const s_vpi_vecval& own) { return static_cast<std::uint32_t>(own.aval); }

  vpiHandle handle_ = nullptr;
  int bit_ = 0;
};

#endif  // RESIL_VPI

}  // namespace resil

#endif  // RESIL_FAULTS_H
