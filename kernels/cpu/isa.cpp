#include "kernels/cpu/isa.h"

#include <cstdlib>
#include <cstring>

namespace terra::cpu {

namespace {

constexpr const char* kNames[] = {"v2", "v3", "v4"};

Isa best_isa() {
  __builtin_cpu_init();
  if (__builtin_cpu_supports("x86-64-v4")) return Isa::V4;
  if (__builtin_cpu_supports("x86-64-v3")) return Isa::V3;
  return Isa::V2;
}

Isa choose_isa() {
  const Isa best = best_isa();
  const char* wanted = std::getenv("TERRA_ISA");
  if (wanted == nullptr) return best;
  for (int level = 0; level <= static_cast<int>(best); ++level) {
    if (std::strcmp(wanted, kNames[level]) == 0) return static_cast<Isa>(level);
  }
  return best;
}

}  // namespace

Isa active_isa() {
  static const Isa isa = choose_isa();
  return isa;
}

const char* name_of(Isa isa) { return kNames[static_cast<int>(isa)]; }

}  // namespace terra::cpu
