#include <bit>
#include <cmath>
#include <limits>
#include <numbers>
#include <random>
#include <utility>
#include <vector>

#include "kernels/abi/half.h"
#include "kernels/cpu/draw_loops.h"
#include "kernels/cpu/halves.h"
#include "kernels/cpu/isa/rows.h"
#include "kernels/cpu/isa/tables.h"
#include "kernels/cpu/random.h"
#include "kernels/cpu/reducer.h"
#include "tests/unit/kernels/elementwise_case.h"

using namespace terra;
using namespace terra::test;
using cpu::KernelList;

namespace {

constexpr int64_t kElements = 203;

const Kernel* find_in(KernelList list, std::string_view op) {
  for (size_t i = 0; i < list.count; ++i) {
    if (list.kernels[i].op == op) return &list.kernels[i];
  }
  return nullptr;
}

/// Runs the loops of one instruction set's tables against the reference.
void check_tables(const char* level, std::initializer_list<KernelList> tables, DType dtype) {
  for (const ElementwiseCase& c : elementwise_cases()) {
    const Kernel* kernel = nullptr;
    for (const KernelList list : tables) kernel = kernel ? kernel : find_in(list, c.op);
    if (!kernel || !kernel->loops[static_cast<int>(dtype)]) continue;
    INFO(level << " " << c.op << " " << name_of(dtype));
    Arguments arguments;
    fill_arguments(c, arguments);
    std::vector<Array> operands;
    for (int p = 0; p < c.operands; ++p) {
      operands.push_back(Array::random(p == c.mask ? DType::U8 : dtype, {kElements}, static_cast<unsigned>(p) + 3,
                                       p == c.mask ? 0 : -4, p == c.mask ? 2 : 4));
    }
    const Array got(result_dtype(c.op, dtype), {kElements}), expected = got;
    const auto run_loop = [&](const Kernel& k, const Array& out) {
      char* data[4] = {static_cast<char*>(out.address(0))};
      int64_t strides[4] = {static_cast<int64_t>(size_of(out.dtype()))};
      for (size_t p = 0; p < operands.size(); ++p) {
        data[p + 1] = static_cast<char*>(operands[p].address(0));
        strides[p + 1] = static_cast<int64_t>(size_of(operands[p].dtype()));
      }
      k.loops[static_cast<int>(dtype)](data, strides, kElements, arguments.args().data());
    };
    run_loop(*kernel, got);
    run_loop(*find_reference_kernel(c.op), expected);
    double worst = 0;
    for (int64_t i = 0; i < kElements; ++i) {
      worst = std::max(worst, distance_in_ulps(got.get(i), expected.get(i), got.dtype(), c.scale));
    }
    CHECK(worst <= c.ulps);
  }
}

/// Sums and maxima of one instruction set against plain loops.
void check_reducers(const char* level, const cpu::Reducer* reducers) {
  INFO(level);
  const Array x = Array::random(DType::F32, {9000});
  double sum = 0, most = -INFINITY;
  for (int64_t i = 0; i < x.numel(); ++i) {
    sum += x.get(i);
    most = std::max(most, x.get(i));
  }
  const auto fold = [&](cpu::Fold which) {
    const cpu::Reducer& r = reducers[static_cast<int>(which)];
    int64_t acc = 0;
    float result = 0;
    r.start(&acc, 1);
    r.row(&acc, x.bytes().data(), x.numel());
    r.finish(&result, &acc, 1);
    return result;
  };
  CHECK(fold(cpu::Fold::Sum) == Approx(sum).epsilon(1e-6));
  CHECK(fold(cpu::Fold::Max) == static_cast<float>(most));
}

/// Uniforms of one instruction set bit for bit, from the stream's numbers; normals within a few units in the last
/// place.
template <class T>
void check_draws(const char* level, const cpu::DrawLoops<T>& loops) {
  INFO(level << " draws of " << sizeof(T) << " bytes");
  constexpr int64_t blocks = 21, count = 16 * blocks;
  constexpr bool wide = sizeof(T) == 8;
  RandomState state;
  random::seed(state, 5);
  std::vector<T> expected(count), got(count);
  std::vector<uint32_t> words;  // as they are before they are tempered
  const auto next = [&] {
    const uint32_t tempered = random::next32(state);
    words.push_back(state.words[state.next - 1]);
    return tempered;
  };
  for (T& e : expected) {
    const uint64_t first = next();
    const uint64_t word = wide ? first << 32 | next() : first;
    e = wide ? std::fma(static_cast<T>(static_cast<double>(word & ((uint64_t{1} << 53) - 1)) * 0x1p-53), T(7), T(-2))
             : std::fma(static_cast<T>(word & 0xffffffu) * T(0x1p-24), T(7), T(-2));
  }
  loops.uniforms(words.data(), got.data(), count, T(7), T(-2));
  CHECK(got == expected);
  loops.uniforms(words.data(), got.data(), count, T(1), T(0));
  const std::vector<T> uniforms = got;
  loops.normal_blocks(got.data(), blocks, T(3), T(2));
  T worst = 0;
  for (int64_t i = 0; i < count; ++i) {
    const int64_t first = i / 16 * 16 + i % 8;
    const double radius = std::sqrt(-2 * std::log(1 - static_cast<double>(uniforms[first])));
    const double angle = 2 * std::numbers::pi * static_cast<double>(uniforms[first + 8]);
    const double normal = radius * (i % 16 < 8 ? std::cos(angle) : std::sin(angle));
    worst = std::max(worst, static_cast<T>(std::abs(got[i] - (normal * 2 + 3))));
  }
  CHECK(worst <= 16 * std::numeric_limits<T>::epsilon());
}

/// The stream is the standard library's mt19937; an element of a Bernoulli draw is set where its 53 bits are below a
/// bound.
void check_stream(const char* level, const cpu::StreamLoops& loops) {
  INFO(level << " stream");
  RandomState state;
  random::seed(state, 5);
  std::vector<uint32_t> raw, tempered(3 * cpu::kStreamWords);
  for (int turn = 0; turn < 3; ++turn) {
    loops.refill(state.words);
    raw.insert(raw.end(), state.words, state.words + cpu::kStreamWords);
  }
  std::mt19937 stream(5);
  for (uint32_t& word : tempered) word = static_cast<uint32_t>(stream());
  const auto drawn = [&](size_t i) {
    return (uint64_t{tempered[2 * i]} << 32 | tempered[2 * i + 1]) & ((uint64_t{1} << 53) - 1);
  };
  const size_t count = tempered.size() / 2;
  std::vector<uint64_t> expected(count), got(count);
  for (const uint64_t bound : {uint64_t{0}, drawn(3), drawn(3) + 1, uint64_t{1} << 53}) {
    for (size_t i = 0; i < count; ++i) expected[i] = drawn(i) < bound ? 42 : 0;
    loops.bernoulli_64(raw.data(), got.data(), static_cast<int64_t>(count), bound, 42);
    CHECK(got == expected);
  }
}

/// Remainders of floats of all sizes, to the last bit those of the C library.
template <class T>
void check_remainders(const char* level, KernelList table, DType dtype) {
  INFO(level << " remainders of " << sizeof(T) << " bytes");
  constexpr int64_t count = 3000;
  RandomState state;
  random::seed(state, 9);
  std::vector<T> values[2], got(count), expected;
  for (int64_t i = 0; i < 2 * count; ++i) {
    const int most = i / 500 % 2 ? 30 : 4;  // some blocks have large quotients, others none
    const int exponent = static_cast<int>(random::next32(state) % static_cast<uint32_t>(2 * most + 1)) - most;
    const T fraction = static_cast<T>(random::next32(state) % 4096) / 2048 - 1;
    values[i % 2].push_back(std::ldexp(fraction, exponent));
  }
  using Limits = std::numeric_limits<T>;
  const T special[] = {0, -T(0), 1, -3, Limits::infinity(), Limits::quiet_NaN(), Limits::denorm_min(), Limits::max()};
  for (size_t i = 0; i < 64; ++i) values[0][i] = special[i / 8], values[1][i] = special[i % 8];
  const T step = Limits::epsilon() * 3;  // quotients that round to the next whole number
  for (int i = 0; i < 64; ++i) values[0][1000 + i] = 3 - step * T(i % 3), values[1][1000 + i] = T(i % 2 ? 3 : -3) / 7;
  for (int64_t i = 0; i < count; ++i) expected.push_back(std::fmod(values[0][i], values[1][i]));
  char* data[] = {reinterpret_cast<char*>(got.data()), reinterpret_cast<char*>(values[0].data()),
                  reinterpret_cast<char*>(values[1].data())};
  const int64_t strides[] = {sizeof(T), sizeof(T), sizeof(T)};
  find_in(table, "fmod")->loops[static_cast<int>(dtype)](data, strides, count, nullptr);
  int64_t different = 0;
  for (int64_t i = 0; i < count; ++i) {
    const bool both_nan = std::isnan(got[i]) && std::isnan(expected[i]);
    different += !both_nan && (got[i] != expected[i] || std::signbit(got[i]) != std::signbit(expected[i]));
  }
  CHECK(different == 0);
}

/// erfinv brings erf(y) back to y, up to where erf is 1.
void check_inverse_erf(const char* level, KernelList table) {
  INFO(level);
  std::vector<double> x, got(400);
  for (int i = 0; i < 400; ++i)
    x.push_back(i < 200 ? i / 200.0 : i < 300 ? 1 - std::ldexp(1.0, -(i - 199) / 2) : 2 - i);
  x[399] = 1, x[398] = -1, x[397] = -0.0;
  char* data[] = {reinterpret_cast<char*>(got.data()), reinterpret_cast<char*>(x.data())};
  const int64_t strides[] = {sizeof(double), sizeof(double)};
  find_in(table, "erfinv")->loops[static_cast<int>(DType::F64)](data, strides, 400, nullptr);
  double worst = 0;
  for (int i = 0; i < 300; ++i) {
    if (x[i] == 1) continue;
    const double error =
        x[i] < 0.5 ? (std::erf(got[i]) - x[i]) / std::max(x[i], 1e-300) : (1 - x[i] - std::erfc(got[i])) / (1 - x[i]);
    // How far y may be off makes 2 y^2 times as much of the tail.
    worst = std::max(worst, std::abs(error) / (1 + 2 * got[i] * got[i]));
  }
  CHECK(worst < 2e-15);
  CHECK((got[399] == INFINITY && got[398] == -INFINITY && got[397] == 0 && std::signbit(got[397])));
  CHECK((std::isnan(got[350]) && std::isnan(got[396])));
}

/// Sums at any places and the gradient of their weights, to the last bit those of plain loops; for more taps and places
/// than are read together.
template <class T>
void check_sampling(const char* level, const cpu::SampleLoops<T>& loops) {
  INFO(level << " samples of " << sizeof(T) << " bytes");
  constexpr int64_t taps = 19, places = 301, size = 40, planes = 3;
  RandomState state;
  random::seed(state, 4);
  const auto draw = [&](size_t n) {
    std::vector<T> values(n);
    for (T& x : values) x = static_cast<T>(random::next32(state) % 1000) / 500 - 1;
    return values;
  };
  std::vector<int64_t> index(taps * places);
  for (int64_t& i : index) i = random::next32(state) % size;
  const std::vector<T> weight = draw(taps * places), pixels = draw(planes * size), grad = draw(planes * places);
  std::vector<T> sums(planes * places), expected(sums.size()), slopes(taps * places), expected_slopes(slopes.size());
  const cpu::Taps<T> all{index.data(), weight.data(), taps, places};
  loops.sums(all, places, pixels.data(), size, planes, sums.data());
  loops.weights(all, places, grad.data(), pixels.data(), size, planes, slopes.data());
  for (int64_t t = 0; t < taps; ++t) {
    for (int64_t p = 0; p < places; ++p) {
      for (int64_t c = 0; c < planes; ++c) {
        const T pixel = pixels[c * size + index[t * places + p]];
        expected[c * places + p] += weight[t * places + p] * pixel;
        expected_slopes[t * places + p] += grad[c * places + p] * pixel;
      }
    }
  }
  CHECK(sums == expected);
  CHECK(slopes == expected_slopes);
}

/// Conversions of all floats of 16 bits, and back from what lies at, between and beyond them, against those of one
/// number.
template <class Narrow>
void check_halves(const char* level, const cpu::HalfLoops& loops) {
  INFO(level << " halves");
  constexpr int64_t count = 1 << 16;
  std::vector<Narrow> all(count), narrowed(3 * count);
  std::vector<float> widened(count), near;
  for (int64_t i = 0; i < count; ++i) all[i].bits = static_cast<uint16_t>(i);
  const auto run = [](ElementwiseLoop loop, auto& out, auto& in) {
    char* data[] = {reinterpret_cast<char*>(out.data()), reinterpret_cast<char*>(in.data())};
    const int64_t strides[] = {sizeof(out[0]), sizeof(in[0])};
    loop(data, strides, static_cast<int64_t>(in.size()), nullptr);
  };
  run(loops.widen, widened, all);
  int64_t different = 0;
  for (int64_t i = 0; i < count; ++i) {
    const float one = static_cast<float>(all[i]);
    different += std::bit_cast<uint32_t>(one) != std::bit_cast<uint32_t>(widened[i]);
    const float next = static_cast<float>(all[(i + 1) % count]), middle = one / 2 + next / 2;
    near.insert(near.end(), {one, middle, std::nextafter(middle, one)});
  }
  run(loops.narrow, narrowed, near);
  for (size_t i = 0; i < near.size(); ++i) different += narrowed[i].bits != Narrow(near[i]).bits;
  CHECK(different == 0);
}

/// Rows side by side against the same rows one after the other.
template <class T>
void check_softmax(const char* level, const cpu::SoftmaxRows<T>& loops) {
  INFO(level << " softmax of " << sizeof(T) << " bytes");
  constexpr int64_t length = 300, columns = 83;
  using RowBackward = void (*)(T*, const T*, const T*, int64_t);
  using ColumnsBackward = void (*)(T*, const T*, const T*, int64_t, int64_t, int64_t);
  RandomState state;
  random::seed(state, 2);
  std::vector<T> in(length * columns), grad(in.size()), got(in.size()), row(length), row_grad(length), expected(length);
  for (T& x : in) x = static_cast<T>(random::next32(state) % 1000) / 50 - 10;
  for (T& x : grad) x = static_cast<T>(random::next32(state) % 1000) / 500 - 1;
  T worst = 0;
  const auto compare = [&](const auto& row_loop) {
    for (int64_t c = 0; c < columns; ++c) {
      for (int64_t i = 0; i < length; ++i) row[i] = in[i * columns + c], row_grad[i] = grad[i * columns + c];
      row_loop();
      for (int64_t i = 0; i < length; ++i)
        worst = std::max(worst, std::abs(got[i * columns + c] - expected[i]) / (1 + std::abs(expected[i])));
    }
  };
  loops.softmax_columns(got.data(), in.data(), length, columns, columns);
  compare([&] { loops.softmax(expected.data(), row.data(), length); });
  loops.log_softmax_columns(got.data(), in.data(), length, columns, columns);
  compare([&] { loops.log_softmax(expected.data(), row.data(), length, 1); });
  for (const auto& [by_row, by_columns] :
       {std::pair<RowBackward, ColumnsBackward>{loops.softmax_backward, loops.softmax_backward_columns},
        {loops.log_softmax_backward, loops.log_softmax_backward_columns}}) {
    for (T& x : in) x = -std::abs(x);
    by_columns(got.data(), grad.data(), in.data(), length, columns, columns);
    compare([&, by_row = by_row] { by_row(expected.data(), row_grad.data(), row.data(), length); });
  }
  for (const int64_t n : {1, 12, 83, 5000}) {  // rows behind each other against each alone
    const int64_t rows = std::min<int64_t>(40, static_cast<int64_t>(in.size()) / n);
    loops.log_softmax(got.data(), in.data(), n, rows);
    for (int64_t r = 0; r < rows; ++r) {
      loops.log_softmax(grad.data(), in.data() + r * n, n, 1);
      for (int64_t i = 0; i < n; ++i) worst = std::max(worst, std::abs(got[r * n + i] - grad[i]));
    }
  }
  CHECK(worst / std::numeric_limits<T>::epsilon() <= 1000);  // sums of 300 terms, some of which cancel
}

/// Places of extremes in rows of any length, with equals and with NaN, against one look at each element.
template <class T>
void check_extremes(const char* level, const cpu::ExtremeRows<T>& loops) {
  INFO(level << " extremes of " << sizeof(T) << " bytes");
  constexpr int64_t longest = 150, rows = 20;
  RandomState state;
  random::seed(state, 3);
  int64_t different = 0;
  for (int64_t n = 1; n <= longest; ++n) {
    std::vector<T> x(static_cast<size_t>(rows * n));
    for (T& element : x) {
      const uint32_t draw = random::next32(state) % 256;
      element = static_cast<T>(draw % 7) - 3;
      if (std::is_floating_point_v<T> && draw == 255) element = std::numeric_limits<T>::quiet_NaN();
    }
    for (const bool largest : {true, false}) {
      std::vector<int64_t> got(rows);
      (largest ? loops.largest : loops.smallest)(reinterpret_cast<const char*>(x.data()), n * int64_t{sizeof(T)}, rows,
                                                 n, reinterpret_cast<char*>(got.data()), sizeof(int64_t));
      for (int64_t r = 0; r < rows; ++r) {
        const T* const row = x.data() + r * n;
        int64_t best = 0;
        for (int64_t i = 1; i < n && row[best] == row[best]; ++i)
          if (row[i] != row[i] || (largest ? row[i] > row[best] : row[i] < row[best])) best = i;
        different += got[static_cast<size_t>(r)] != best;
      }
    }
  }
  CHECK(different == 0);
}

}  // namespace

#define TERRA_CHECK_ISA(level)                                                                           \
  for (const DType dtype : {DType::F32, DType::F64}) {                                                   \
    check_tables(#level,                                                                                 \
                 {cpu::level::arithmetic_table(), cpu::level::math_table(), cpu::level::compare_table(), \
                  cpu::level::select_table(), cpu::level::remainder_table()},                            \
                 dtype);                                                                                 \
  }                                                                                                      \
  check_reducers(#level, cpu::level::real_reducers(DType::F32));                                         \
  check_remainders<float>(#level, cpu::level::remainder_table(), DType::F32);                            \
  check_remainders<double>(#level, cpu::level::remainder_table(), DType::F64);                           \
  check_inverse_erf(#level, cpu::level::math_table());                                                   \
  check_sampling(#level, cpu::level::sample_loops(float{}));                                             \
  check_sampling(#level, cpu::level::sample_loops(double{}));                                            \
  check_softmax(#level, cpu::level::softmax_rows(float{}));                                              \
  check_softmax(#level, cpu::level::softmax_rows(double{}));                                             \
  check_extremes(#level, cpu::level::extreme_rows(float{}));                                             \
  check_extremes(#level, cpu::level::extreme_rows(double{}));                                            \
  check_extremes(#level, cpu::level::extreme_rows(int32_t{}));                                           \
  check_extremes(#level, cpu::level::extreme_rows(int64_t{}));                                           \
  check_halves<Half>(#level, *cpu::level::half_loops());                                                 \
  check_halves<BFloat16>(#level, *cpu::level::bfloat16_loops());                                         \
  check_stream(#level, cpu::level::stream);                                                              \
  check_draws(#level, cpu::level::draw_loops_f32);                                                       \
  check_draws(#level, cpu::level::draw_loops_f64);

TEST_CASE("every instruction set computes the same functions", "[isa]") {
  TERRA_CHECK_ISA(v2)
  if (__builtin_cpu_supports("x86-64-v3")) {
    TERRA_CHECK_ISA(v3)
  }
  if (__builtin_cpu_supports("x86-64-v4")) {
    TERRA_CHECK_ISA(v4)
  }
}
