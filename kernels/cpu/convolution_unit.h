// One part of a convolution as a oneDNN primitive, with the conversions of layout around it.
#pragma once
#include <oneapi/dnnl/dnnl.hpp>

#include <optional>

#include "kernels/cpu/convolution.h"

namespace terra::cpu::onednn {

dnnl::engine& engine();
/// The calling thread's.
dnnl::stream& stream();

inline size_t aligned(size_t bytes) { return (bytes + 63) & ~size_t{63}; }

/// An operand as the caller has it and as the primitive wants it.
struct Operand {
  dnnl::memory::desc outer;
  dnnl::memory::desc inner;
  std::optional<dnnl::reorder> conversion;
  bool written = false;
  dnnl::memory::desc scratchpad;  ///< of the conversion

  size_t copy_bytes() const { return conversion ? aligned(inner.get_size()) : 0; }
  /// To the inner layout, or from it if the operand is written. In the calling thread.
  void convert(void* from, void* to) const;
};

/// The convolution of one part.
struct ConvUnit {
  dnnl::primitive primitive;
  Operand source, weights, destination;
  dnnl::memory::desc bias;
  dnnl::memory::desc scratchpad;

  /// Copies of activations and the scratchpad, laid out one after the other.
  size_t activation_bytes() const {
    return source.copy_bytes() + destination.copy_bytes() + aligned(scratchpad.get_size());
  }
};

/// The unit of `part`, cut from `whole`. `same`: another part's unit whose inner layouts to use; null: choose. To be
/// called with OpenMP on one thread, as its execution.
ConvUnit make_conv_unit(const ConvShape& part, const ConvShape& whole, ConvPass pass, const ConvOptions& options,
                        const ConvUnit* same);

}  // namespace terra::cpu::onednn
