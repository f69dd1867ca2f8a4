// SPDX-License-Identifier: Apache-2.0
// What the design may read while it runs: files of its own, from one folder, and those that plusargs name. All else,
// and a file that is missing, is an error: a simulator that goes on without it would be another design.

#include <dlfcn.h>

#include <cstdio>
#include <mutex>
#include <set>
#include <stdexcept>
#include <string>

#include "driver.h"

namespace {

using Open = FILE* (*)(const char*, const char*);

std::mutex held;
std::string data_folder;
std::set<std::string> given;

Open real_fopen() {
  static const Open real = reinterpret_cast<Open>(dlsym(RTLD_NEXT, "fopen"));
  return real;
}

}  // namespace

extern "C" {

void resil_data(const char* folder) {
  const std::lock_guard<std::mutex> lock(held);
  data_folder = folder;
}

void resil_give(const char* name) {
  const std::lock_guard<std::mutex> lock(held);
  given.insert(name);
}

// Verilator's library, which is linked into this one, opens files by this in place of the C library's.
FILE* fopen(const char* name, const char* mode) {
  if (*mode != 'r') return real_fopen()(name, mode);
  const std::lock_guard<std::mutex> lock(held);
  if (given.count(name)) return real_fopen()(name, mode);
  const bool known = *name != '/' && !data_folder.empty();
  FILE* const found = known ? real_fopen()((data_folder + "/" + name).c_str(), mode) : nullptr;
  if (!found) {
    throw std::runtime_error(std::string("the RTL reads '") + name +
                             "', which is none of the target's files; name it in data_files of the target");
  }
  return found;
}
}
