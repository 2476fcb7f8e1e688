// Which instruction set the kernels of this process use.
//
// Files in kernels/cpu/isa/ are compiled once per level, each time into a namespace of its own: terra::cpu::v2, ::v3,
// ::v4 (the x86-64 micro-architecture levels). They hold inner loops only. They must not instantiate templates or
// out-of-line inline functions of shared namespaces (std::, terra::): the linker keeps one copy of those for the whole
// program and might keep the one whose instructions this processor lacks. The namespace Eigen is renamed per level.
#pragma once
#include <cstddef>

#include "kernels/abi/kernel.h"

/// Declares what a file of kernels/cpu/isa/ defines, once per level.
#define TERRA_PER_ISA(...) \
  namespace v2 {           \
  __VA_ARGS__              \
  }                        \
  namespace v3 {           \
  __VA_ARGS__              \
  }                        \
  namespace v4 {           \
  __VA_ARGS__              \
  }

/// The function (or object) of that name at the active level, as a pointer.
#define TERRA_PICK(name) ::terra::cpu::by_isa(&v2::name, &v3::name, &v4::name)

namespace terra::cpu {

enum class Isa : unsigned char { V2, V3, V4 };

/// The best level of this processor, or the one named by TERRA_ISA=v2|v3|v4 if the processor has it. Constant for the
/// life of the process.
Isa active_isa();
const char* name_of(Isa isa);

template <class T>
T* by_isa(T* v2, T* v3, T* v4) {
  T* const choice[] = {v2, v3, v4};
  return choice[static_cast<int>(active_isa())];
}

/// A table of kernels in a form without templates, for the files of kernels/cpu/isa/.
struct KernelList {
  const Kernel* kernels;
  size_t count;
};

}  // namespace terra::cpu
