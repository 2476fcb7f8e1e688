// What reductions mean: every element is taken in row-major order.
#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>

#include "kernels/abi/ties.h"
#include "kernels/reference/families.h"
#include "kernels/reference/index.h"
#include "kernels/reference/numbers.h"

namespace terra::reference {

namespace {

int wrapped(int64_t dim, int rank) { return static_cast<int>(dim < 0 ? dim + rank : dim); }

/// Which dimensions argument `arg` names; absent and empty mean all.
std::vector<bool> reduced_dims(const KernelCall& call, int arg, int rank) {
  std::vector<bool> reduced(static_cast<size_t>(rank), false);
  bool any = false;
  const auto mark = [&](int64_t dim) {
    if (rank > 0) reduced[static_cast<size_t>(wrapped(dim, rank))] = true;
    any = true;
  };
  if (call.args.size() > static_cast<size_t>(arg)) {
    if (call.args[arg].kind == KernelArg::Kind::Scalar) mark(call.integer(arg));
    if (call.args[arg].kind == KernelArg::Kind::IntList) {
      for (int64_t dim : call.ints(arg)) mark(dim);
    }
  }
  if (!any) reduced.assign(reduced.size(), true);
  return reduced;
}

/// The place of an input element's result among the outputs in row-major order.
int64_t output_of(const View& in, const std::vector<bool>& reduced, const int64_t* index) {
  int64_t place = 0;
  for (int d = 0; d < in.rank; ++d) {
    if (!reduced[static_cast<size_t>(d)]) place = place * in.sizes[d] + index[d];
  }
  return place;
}

char* output(const View& out, int64_t place) { return out.bytes() + place * static_cast<int64_t>(size_of(out.dtype)); }

bool are_complex(Number a, Number b) {
  return std::holds_alternative<std::complex<double>>(a) || std::holds_alternative<std::complex<double>>(b);
}
Number add(Number a, Number b) {
  if (is_whole(a) && is_whole(b)) return static_cast<int64_t>(bits_of(a) + bits_of(b));
  if (are_complex(a, b)) return to_complex(a) + to_complex(b);
  return to_double(a) + to_double(b);
}
Number multiply(Number a, Number b) {
  if (is_whole(a) && is_whole(b)) return static_cast<int64_t>(bits_of(a) * bits_of(b));
  if (are_complex(a, b)) return to_complex(a) * to_complex(b);
  return to_double(a) * to_double(b);
}
bool is_nan(Number n) { return std::isnan(to_double(n)); }
bool less(Number a, Number b) {
  if (std::holds_alternative<int64_t>(a)) return std::get<int64_t>(a) < std::get<int64_t>(b);
  if (std::holds_alternative<uint64_t>(a)) return std::get<uint64_t>(a) < std::get<uint64_t>(b);
  return to_double(a) < to_double(b);
}
/// x is preferred to `best`: a NaN to every number, the first of equals to the others.
bool beats(Number x, Number best, bool max) {
  return (max ? less(best, x) : less(x, best)) || (is_nan(x) && !is_nan(best));
}

/// Folds all elements of an output, starting from the number `start`.
template <class Fold>
void fold(const KernelCall& call, Number start, Fold take) {
  const View& in = call.view(0);
  const View& out = call.out[0];
  const auto reduced = reduced_dims(call, 1, in.rank);
  std::vector<Number> totals(static_cast<size_t>(out.numel()), start);
  for_each_index(in, [&](const int64_t* i) {
    Number& total = totals[static_cast<size_t>(output_of(in, reduced, i))];
    total = take(total, read(in.dtype, address_at(in, i)));
  });
  for (int64_t k = 0; k < out.numel(); ++k) write(out.dtype, output(out, k), totals[static_cast<size_t>(k)]);
}

Number zero(DType t) { return is_inexact(t) ? Number(0.0) : Number(int64_t{0}); }
Number one(DType t) { return is_inexact(t) ? Number(1.0) : Number(int64_t{1}); }

void sum(const KernelCall& call) { fold(call, zero(call.out[0].dtype), add); }
void prod(const KernelCall& call) { fold(call, one(call.out[0].dtype), multiply); }
void sum_of_squares(const KernelCall& call) {
  fold(call, zero(call.out[0].dtype), [](Number sum, Number x) { return add(sum, multiply(x, x)); });
}
void sum_of_numbers(const KernelCall& call) {
  fold(call, zero(call.out[0].dtype), [](Number sum, Number x) { return is_nan(x) ? sum : add(sum, x); });
}
void any(const KernelCall& call) {
  fold(call, int64_t{0},
       [](Number a, Number b) -> Number { return int64_t{to_complex(a) != 0.0 || to_complex(b) != 0.0}; });
}
void all(const KernelCall& call) {
  fold(call, int64_t{1},
       [](Number a, Number b) -> Number { return int64_t{to_complex(a) != 0.0 && to_complex(b) != 0.0}; });
}

/// The best element of each output, and its place in row-major order among the reduced dimensions.
struct Best {
  Number value;
  int64_t index = -1;
  int64_t seen = 0;
};

std::vector<Best> search(const View& in, const std::vector<bool>& reduced, int64_t outputs, bool max) {
  std::vector<Best> best(static_cast<size_t>(outputs));
  for_each_index(in, [&](const int64_t* i) {
    Best& b = best[static_cast<size_t>(output_of(in, reduced, i))];
    const Number x = read(in.dtype, address_at(in, i));
    if (b.index < 0 || beats(x, b.value, max)) {
      b.value = x;
      b.index = b.seen;
    }
    ++b.seen;
  });
  return best;
}

template <bool kMax>
void extreme(const KernelCall& call) {
  const View& out = call.out[0];
  const auto best = search(call.view(0), reduced_dims(call, 1, call.view(0).rank), out.numel(), kMax);
  for (int64_t k = 0; k < out.numel(); ++k) write(out.dtype, output(out, k), best[static_cast<size_t>(k)].value);
}

template <bool kMax>
void arg_extreme(const KernelCall& call) {
  const View& out = call.out[0];
  const auto best = search(call.view(0), reduced_dims(call, 1, call.view(0).rank), out.numel(), kMax);
  for (int64_t k = 0; k < out.numel(); ++k) write(DType::I64, output(out, k), best[static_cast<size_t>(k)].index);
}

template <bool kMax>
void extreme_with_index(const KernelCall& call) {
  extreme<kMax>(call);
  const View& indices = call.out[1];
  const auto best = search(call.view(0), reduced_dims(call, 1, call.view(0).rank), indices.numel(), kMax);
  for (int64_t k = 0; k < indices.numel(); ++k) {
    write(DType::I64, output(indices, k), best[static_cast<size_t>(k)].index);
  }
}

/// Running totals along a dimension: the total of a line is carried from one element to the next.
template <bool kProduct>
void scan(const KernelCall& call) {
  const View& in = call.view(0);
  const View& out = call.out[0];
  std::vector<bool> reduced(static_cast<size_t>(in.rank), false);
  if (in.rank > 0) reduced[static_cast<size_t>(wrapped(call.integer(1), in.rank))] = true;
  std::map<int64_t, Number> totals;
  for_each_index(in, [&](const int64_t* i) {
    Number& total =
        totals.try_emplace(output_of(in, reduced, i), kProduct ? one(out.dtype) : zero(out.dtype)).first->second;
    const Number x = read(in.dtype, address_at(in, i));
    total = kProduct ? multiply(total, x) : add(total, x);
    write(out.dtype, address_at(out, i), total);
  });
}

/// What one line's elements so far come to, carried from one element to the next: step(index, state, element).
template <class State, class Step>
void carry_along(const KernelCall& call, State start, Step step) {
  const View& in = call.view(0);
  std::vector<bool> reduced(static_cast<size_t>(in.rank), false);
  const int dim = in.rank == 0 ? 0 : wrapped(call.integer(1), in.rank);
  if (in.rank > 0) reduced[static_cast<size_t>(dim)] = true;
  std::map<int64_t, State> states;
  for_each_index(in, [&](const int64_t* i) {
    State& state = states.try_emplace(output_of(in, reduced, i), start).first->second;
    step(i, in.rank == 0 ? 0 : i[dim], state, read(in.dtype, address_at(in, i)));
  });
}
/// cummax, cummin: the last of equals; a NaN beats every number.
template <bool kLargest>
void extremes(const KernelCall& call) {
  struct Best {
    Number value;
    int64_t index = -1;
  };
  carry_along(call, Best{}, [&](const int64_t* i, int64_t place, Best& best, Number x) {
    const bool loses =
        best.index >= 0 && !is_nan(x) && (is_nan(best.value) || (kLargest ? less(x, best.value) : less(best.value, x)));
    if (!loses) best = {x, place};
    write(call.out[0].dtype, address_at(call.out[0], i), best.value);
    write(DType::I64, address_at(call.out[1], i), best.index);
  });
}
void logcumsumexp(const KernelCall& call) {
  carry_along(call, -std::numeric_limits<double>::infinity(), [&](const int64_t* i, int64_t, double& total, Number x) {
    const double a = total, b = to_double(x), high = std::max(a, b);
    total = a != a || b != b   ? a + b
            : std::isinf(high) ? high
                               : high + std::log(std::exp(a - high) + std::exp(b - high));
    write(call.out[0].dtype, address_at(call.out[0], i), total);
  });
}

/// Elements with the places of their values among the distinct ones for keys; `order` is the sorted order.
std::vector<Tied> with_ranks(const std::vector<int64_t>& order, const auto& before) {
  std::vector<Tied> elements(order.size());
  uint64_t rank = 0;
  for (size_t i = 0; i < order.size(); ++i) {
    if (i > 0 && before(order[i - 1], order[i])) ++rank;
    elements[static_cast<size_t>(order[i])] = {rank, order[i]};
  }
  return elements;
}

/// Of each line as many elements as the result has, in the order of places(sorted order, ranks, value of an element). A
/// NaN counts as the greatest value.
void order_lines(const KernelCall& call, int64_t dim_argument, bool descending, const auto& places) {
  const View& in = call.view(0);
  const int dim = in.rank == 0 ? 0 : wrapped(dim_argument, in.rank);
  const int64_t length = in.rank == 0 ? 1 : in.sizes[dim], kept = in.rank == 0 ? 1 : call.out[0].sizes[dim];
  std::vector<int64_t> others(in.sizes, in.sizes + in.rank);
  if (in.rank > 0) others[static_cast<size_t>(dim)] = 1;
  for_each_index(others, [&](const int64_t* start) {
    std::vector<int64_t> place(start, start + in.rank + 1), order(static_cast<size_t>(length));
    const auto value = [&](int64_t i) {
      place[static_cast<size_t>(dim)] = i;
      return read(in.dtype, address_at(in, place.data()));
    };
    std::iota(order.begin(), order.end(), 0);
    const auto before = [&](int64_t a, int64_t b) {
      const Number x = value(a), y = value(b);
      return descending ? beats(x, y, true) : less(x, y) || (is_nan(y) && !is_nan(x));
    };
    std::stable_sort(order.begin(), order.end(), before);
    const std::vector<int64_t> picked = places(order, with_ranks(order, before), value);
    for (int64_t i = 0; i < kept; ++i) {
      const int64_t from = picked[static_cast<size_t>(i)];
      const Number x = value(from);
      place[static_cast<size_t>(dim)] = i;
      write(in.dtype, address_at(call.out[0], place.data()), x);
      write(DType::I64, address_at(call.out[1], place.data()), from);
    }
  });
}

void sort(const KernelCall& call) {
  order_lines(call, call.integer(1), call.flag(2), [](const auto& order, const auto&, const auto&) { return order; });
}
void topk(const KernelCall& call) {
  if (call.out[0].numel() == 0) return;
  const int64_t dim = call.integer(2), rank = call.view(0).rank;
  const int64_t kept = rank == 0 ? 1 : call.out[0].sizes[wrapped(dim, static_cast<int>(rank))];
  order_lines(call, dim, call.flag(3), [&](const auto&, std::vector<Tied> ranks, const auto&) {
    return first_of_tied(std::move(ranks), kept, call.flag(4));
  });
}
/// Place -1 is the first NaN, or else the median.
void at_place(const KernelCall& call) {
  const int64_t place = call.integer(1);
  order_lines(call, call.integer(2), false, [place](const auto& order, std::vector<Tied> ranks, const auto& value) {
    if (place >= 0) return std::vector<int64_t>{place_among_tied(std::move(ranks), place)};
    const auto nan = std::find_if(order.begin(), order.end(), [&](int64_t i) { return is_nan(value(i)); });
    return std::vector<int64_t>{nan != order.end() ? *nan : order[(order.size() - 1) / 2]};
  });
}

constexpr Kernel kKernels[] = {
    {.op = "sum", .run = sum},
    {.op = "prod", .run = prod},
    {.op = "sum_of_squares", .run = sum_of_squares},
    {.op = "sum_of_numbers", .run = sum_of_numbers},
    {.op = "any", .run = any},
    {.op = "all", .run = all},
    {.op = "amax", .run = extreme<true>},
    {.op = "amin", .run = extreme<false>},
    {.op = "argmax", .run = arg_extreme<true>},
    {.op = "argmin", .run = arg_extreme<false>},
    {.op = "max_with_index", .run = extreme_with_index<true>},
    {.op = "min_with_index", .run = extreme_with_index<false>},
    {.op = "cumsum", .run = scan<false>},
    {.op = "cumprod", .run = scan<true>},
    {.op = "cummax", .run = extremes<true>},
    {.op = "cummin", .run = extremes<false>},
    {.op = "logcumsumexp", .run = logcumsumexp},
    {.op = "sort", .run = sort},
    {.op = "topk", .run = topk},
    {.op = "at_place", .run = at_place},
};

}  // namespace

std::span<const Kernel> reduction_kernels() { return kKernels; }

}  // namespace terra::reference
