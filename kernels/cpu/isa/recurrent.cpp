// Steps of recurrent layers: kernels/cpu/recurrent.h.
#include "kernels/cpu/recurrent.h"

#include "kernels/cpu/isa/reduce.h"

namespace terra::cpu::TERRA_ISA {

namespace {

template <class T>
Vec<T> logistic(Vec<T> x) {
  return T(1) / (T(1) + v_exp(-x));
}

template <class T>
void step(int64_t n, T* gates, const T* before, T* cell, T* hidden) {
  for_each_vector<T>(n, [&](int64_t k, int64_t count) {
    const auto sums = [&](int gate) { return read(gates + gate * n + k, count); };
    const Vec<T> i = logistic<T>(sums(0)), f = logistic<T>(sums(1)), g = v_tanh(sums(2)), o = logistic<T>(sums(3));
    const Vec<T> c = f * read(before + k, count) + i * g;
    write<T>(gates + k, i, count);
    write<T>(gates + n + k, f, count);
    write<T>(gates + 2 * n + k, g, count);
    write<T>(gates + 3 * n + k, o, count);
    write<T>(cell + k, c, count);
    write<T>(hidden + k, o * v_tanh(c), count);
  });
}

template <class T>
void backward(int64_t n, const T* gates, const T* before, const T* cell, const T* hidden_grad, const T* by_gates,
              T* carried, T* sums_grad) {
  for_each_vector<T>(n, [&](int64_t k, int64_t count) {
    const auto gate = [&](int row) { return read(gates + row * n + k, count); };
    const auto given = [&](int row) { return by_gates != nullptr ? read(by_gates + row * n + k, count) : Vec<T>{}; };
    const Vec<T> i = gate(0), f = gate(1), g = gate(2), o = gate(3);
    const Vec<T> squashed = v_tanh(read(cell + k, count)), by_hidden = read(hidden_grad + k, count);
    const Vec<T> by_cell = read(carried + k, count) + by_hidden * o * (T(1) - squashed * squashed);
    write<T>(sums_grad + k, (by_cell * g + given(0)) * i * (T(1) - i), count);
    write<T>(sums_grad + n + k, (by_cell * read(before + k, count) + given(1)) * f * (T(1) - f), count);
    write<T>(sums_grad + 2 * n + k, (by_cell * i + given(2)) * (T(1) - g * g), count);
    write<T>(sums_grad + 3 * n + k, (by_hidden * squashed + given(3)) * o * (T(1) - o), count);
    write<T>(carried + k, by_cell * f, count);
  });
}

}  // namespace

const LstmLoops<float> lstm_loops_f32 = {step<float>, backward<float>};
const LstmLoops<double> lstm_loops_f64 = {step<double>, backward<double>};

}  // namespace terra::cpu::TERRA_ISA
