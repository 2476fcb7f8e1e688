// Recurrent layers over whole sequences: a product and one pass over the gates for each step.
#include "kernels/cpu/recurrent.h"

#include <algorithm>
#include <type_traits>

#include "kernels/abi/dtype_dispatch.h"
#include "kernels/abi/parallel.h"
#include "kernels/cpu/blas.h"
#include "kernels/cpu/families.h"
#include "kernels/cpu/scratch.h"

namespace terra::cpu {
namespace {

template <class T>
const LstmLoops<T>& loops() {
  if constexpr (std::is_same_v<T, float>)
    return *TERRA_PICK(lstm_loops_f32);
  else
    return *TERRA_PICK(lstm_loops_f64);
}

/// A layer of `cells` cells over `steps` steps of `examples`, backwards from the last step if `reversed`.
struct Layer {
  int64_t steps, examples, cells;
  bool reversed;

  Layer(const View& gates, bool reversed)
      : steps(gates.sizes[0]), examples(gates.sizes[1]), cells(gates.sizes[2] / 4), reversed(reversed) {}

  int64_t states() const { return examples * cells; }
  int64_t gates() const { return 4 * cells; }
  /// The step that is taken as number `turn`.
  int64_t step(int64_t turn) const { return reversed ? steps - 1 - turn : turn; }
  /// The state before that turn, of states by step and a first one.
  template <class T>
  const T* before(int64_t turn, const T* first, const T* states_by_step) const {
    return turn == 0 ? first : states_by_step + step(turn - 1) * states();
  }
  /// Calls body(example) for all.
  void for_each(const auto& body) const {
    parallel_for(examples, std::max<int64_t>(1, grain_for_cost(40) / std::max<int64_t>(1, cells)),
                 [&](int64_t begin, int64_t end) {
                   for (int64_t i = begin; i < end; ++i) body(i);
                 });
  }
};

/// lstm_layer(steps, weight, hidden, cell, reversed) -> (output, cells, gates).
void lstm_layer_in(const KernelCall& call, Scratch& scratch) {
  with_float(call.out[0].dtype, [&]<class T>(T) {
    const T *steps = scratch.contiguous<T>(call.view(0)), *weight = scratch.contiguous<T>(call.view(1));
    const T *first_hidden = scratch.contiguous<T>(call.view(2)), *first_cell = scratch.contiguous<T>(call.view(3));
    if (scratch.counting()) return;
    const Layer layer(call.view(0), call.flag(4));
    const int64_t n = layer.cells;
    T *output = call.out[0].as<T>(), *cells = call.out[1].as<T>(), *gates = call.out[2].as<T>();
    std::copy_n(steps, call.view(0).numel(), gates);
    for (int64_t turn = 0; turn < layer.steps; ++turn) {
      const int64_t at = layer.step(turn) * layer.states();
      blas::gemm<T>(layer.examples, 4 * n, n, 1, {layer.before(turn, first_hidden, output), n, 1}, {weight, 1, n}, 1,
                    gates + 4 * at, 4 * n);
      const T* before = layer.before(turn, first_cell, cells);
      layer.for_each([&](int64_t i) {
        const int64_t example = at + i * n;
        loops<T>().step(n, gates + 4 * example, before + i * n, cells + example, output + example);
      });
    }
  });
}

/// lstm_layer_backward(output_grad?, cells_grad?, gates_grad?, weight, cell, cells, gates, reversed) -> gradients by
/// the steps, the first hidden state and the first cells.
void lstm_layer_backward_in(const KernelCall& call, Scratch& scratch) {
  with_float(call.out[0].dtype, [&]<class T>(T) {
    const auto given = [&](int i) { return call.has(i) ? scratch.contiguous<T>(call.view(i)) : nullptr; };
    const T *by_output = given(0), *by_cells = given(1), *by_gates = given(2), *weight = given(3);
    const T *first_cell = given(4), *cells = given(5), *gates = given(6);
    if (scratch.counting()) return;
    const Layer layer(call.view(6), call.flag(7));
    const int64_t n = layer.cells;
    T *sums = call.out[0].as<T>(), *hidden = call.out[1].as<T>(), *carried = call.out[2].as<T>();
    std::fill_n(hidden, layer.states(), T(0));
    std::fill_n(carried, layer.states(), T(0));
    const auto add = [&](T* to, const T* from) {
      for (int64_t k = 0; from != nullptr && k < layer.states(); ++k) to[k] += from[k];
    };
    for (int64_t turn = layer.steps - 1; turn >= 0; --turn) {
      const int64_t at = layer.step(turn) * layer.states();
      add(hidden, by_output != nullptr ? by_output + at : nullptr);
      add(carried, by_cells != nullptr ? by_cells + at : nullptr);
      const T* before = layer.before(turn, first_cell, cells);
      layer.for_each([&](int64_t i) {
        const int64_t example = at + i * n;
        loops<T>().backward(n, gates + 4 * example, before + i * n, cells + example, hidden + i * n,
                            by_gates != nullptr ? by_gates + 4 * example : nullptr, carried + i * n,
                            sums + 4 * example);
      });
      blas::gemm<T>(layer.examples, n, 4 * n, 1, {sums + 4 * at, 4 * n, 1}, {weight, n, 1}, 0, hidden, n);
    }
  });
}

constexpr Kernel kKernels[] = {scratch_kernel<lstm_layer_in>("lstm_layer"),
                               scratch_kernel<lstm_layer_backward_in>("lstm_layer_backward")};

}  // namespace

std::span<const Kernel> recurrent_kernels() { return kKernels; }

}  // namespace terra::cpu
