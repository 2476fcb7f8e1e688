#include "kernels/cpu/bfloat16_product.h"

#include <oneapi/dnnl/dnnl.hpp>

#include <algorithm>
#include <memory>
#include <mutex>
#include <type_traits>
#include <unordered_map>
#include <vector>

#include "kernels/abi/kernel_error.h"
#include "kernels/abi/parallel.h"
#include "kernels/cpu/convolution_unit.h"
#include "kernels/cpu/fork_locks.h"
#include "kernels/cpu/held_signals.h"
#include "kernels/cpu/single_thread.h"

namespace terra::cpu::bfloat16 {
namespace {

using dnnl::memory;
using onednn::engine;
using onednn::stream;
constexpr auto kBF16 = memory::data_type::bf16, kF32 = memory::data_type::f32;

/// All that a primitive depends on.
struct Form {
  int64_t m, n, k;
  int64_t a_strides[2], b_strides[2];
  int64_t row;  ///< elements from a row of C to the next
  bool bias;
  bool wide;  ///< C is of f32

  bool operator==(const Form&) const = default;
};

struct FormHash {
  size_t operator()(const Form& f) const {
    uint64_t hash = f.bias + 2 * f.wide;
    for (int64_t v : {f.m, f.n, f.k, f.a_strides[0], f.a_strides[1], f.b_strides[0], f.b_strides[1], f.row}) {
      hash = (hash ^ static_cast<uint64_t>(v)) * 0x9e3779b97f4a7c15u;
      hash ^= hash >> 29;
    }
    return hash;
  }
};

struct Primitive {
  explicit Primitive(const Form& f)
      : a({f.m, f.k}, kBF16, memory::dims{f.a_strides[0], f.a_strides[1]}),
        b({f.k, f.n}, kBF16, memory::dims{f.b_strides[0], f.b_strides[1]}),
        bias({1, f.n}, kBF16, memory::dims{f.n, 1}),
        c({f.m, f.n}, f.wide ? kF32 : kBF16, memory::dims{f.row, 1}) {
    dnnl::primitive_attr attributes;
    attributes.set_scratchpad_mode(dnnl::scratchpad_mode::user);
    const dnnl::matmul::desc description = f.bias ? dnnl::matmul::desc(a, b, bias, c) : dnnl::matmul::desc(a, b, c);
    const dnnl::matmul::primitive_desc chosen(description, attributes, engine());
    scratchpad = chosen.scratchpad_desc();
    matmul = dnnl::matmul(chosen);
  }

  memory::desc a, b, bias, c, scratchpad;
  dnnl::matmul matmul;
};

std::shared_ptr<const Primitive> primitive_of(const Form& form) {
  constexpr size_t kMost = 1024;  // a program with more shapes than that starts over
  // Never destroyed: a thread may still compute while the process ends.
  static auto& known = *new std::unordered_map<Form, std::shared_ptr<const Primitive>, FormHash>;
  const std::lock_guard lock(fork_locks().product_choice);
  if (known.size() >= kMost) known.clear();
  std::shared_ptr<const Primitive>& primitive = known[form];
  if (!primitive) primitive = std::make_shared<const Primitive>(form);
  return primitive;
}

/// Scratch of this thread, kept between products.
char* scratch_of_thread(size_t bytes) {
  constexpr size_t kLine = 64;
  static thread_local std::vector<char> bytes_kept;
  if (bytes_kept.size() < bytes + kLine) bytes_kept.resize(bytes + kLine);
  return bytes_kept.data() + (kLine - reinterpret_cast<uintptr_t>(bytes_kept.data()) % kLine) % kLine;
}

/// One piece of a product, on the calling thread.
void multiply(const Form& form, const BFloat16* a, const BFloat16* b, const BFloat16* bias, void* c) {
  const SingleThread single;
  const HeldSignals held;
  const std::shared_ptr<const Primitive> primitive = primitive_of(form);
  const auto at = [](const memory::desc& where, const void* data) {
    return memory(where, engine(), const_cast<void*>(data));  // operands aren't written
  };
  std::unordered_map<int, memory> operands = {
      {DNNL_ARG_SRC, at(primitive->a, a)},
      {DNNL_ARG_WEIGHTS, at(primitive->b, b)},
      {DNNL_ARG_DST, at(primitive->c, c)},
      {DNNL_ARG_SCRATCHPAD, at(primitive->scratchpad, scratch_of_thread(primitive->scratchpad.get_size()))}};
  if (bias != nullptr) operands.emplace(DNNL_ARG_BIAS, at(primitive->bias, bias));
  primitive->matmul.execute(stream(), operands);
}

/// A stride along an axis of one element means nothing, and oneDNN wants it as if there were more.
void strides_of(const blas::Operand<BFloat16>& operand, int64_t rows, int64_t columns, int64_t (&strides)[2]) {
  strides[0] = operand.row_stride;
  strides[1] = operand.column_stride;
  if (rows == 1 && columns == 1) strides[0] = strides[1] = 1;
  if (rows == 1 && columns > 1) strides[0] = strides[1] == 1 ? columns : 1;
  if (columns == 1 && rows > 1) strides[1] = strides[0] == 1 ? rows : 1;
}

}  // namespace

bool multiplies(int64_t multiplications) {
  constexpr int64_t kWorthCode = 1 << 20;
  if (multiplications < kWorthCode) return false;
  static const bool has_instructions = dnnl::get_effective_cpu_isa() >= dnnl::cpu_isa::avx512_core_bf16;
  return has_instructions;
}

template <class Out>
void product(int64_t m, int64_t n, int64_t k, blas::Operand<BFloat16> a, blas::Operand<BFloat16> b,
             const BFloat16* bias, Out* c) {
  constexpr double kPieceOperations = 100e6;  // some 200 us
  constexpr int64_t kMostPieces = 16, kMultiple = 64;
  const double operations = 2.0 * static_cast<double>(m) * static_cast<double>(n) * static_cast<double>(k);
  const int64_t wanted = std::clamp<int64_t>(static_cast<int64_t>(operations / kPieceOperations), 1, kMostPieces);
  const bool along_n = n >= m;
  const int64_t length = along_n ? n : m;
  const int64_t width = wanted == 1 ? length : ((length + wanted - 1) / wanted + kMultiple - 1) / kMultiple * kMultiple;
  const int64_t pieces = (length + width - 1) / width;
  try {
    parallel_for(pieces, 1, [&](int64_t begin, int64_t end) {
      for (int64_t p = begin; p < end; ++p) {
        const int64_t at = p * width, size = std::min(width, length - at);
        const int64_t i = along_n ? 0 : at, j = along_n ? at : 0;
        Form form{.m = along_n ? m : size,
                  .n = along_n ? size : n,
                  .k = k,
                  .row = n,
                  .bias = bias != nullptr,
                  .wide = std::is_same_v<Out, float>};
        strides_of(a, form.m, k, form.a_strides);
        strides_of(b, k, form.n, form.b_strides);
        multiply(form, a.data + i * a.row_stride, b.data + j * b.column_stride, bias != nullptr ? bias + j : nullptr,
                 c + i * n + j);
      }
    });
  } catch (const dnnl::error& e) {
    throw KernelError(KernelError::Kind::Runtime, std::string("oneDNN could not compute a product: ") + e.what());
  }
}

template void product(int64_t, int64_t, int64_t, blas::Operand<BFloat16>, blas::Operand<BFloat16>, const BFloat16*,
                      BFloat16*);
template void product(int64_t, int64_t, int64_t, blas::Operand<BFloat16>, blas::Operand<BFloat16>, const BFloat16*,
                      float*);

}  // namespace terra::cpu::bfloat16
