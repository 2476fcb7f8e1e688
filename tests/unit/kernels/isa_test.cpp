#include "kernels/cpu/isa/tables.h"
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

}  // namespace

#define TERRA_CHECK_ISA(level)                                                                           \
  for (const DType dtype : {DType::F32, DType::F64}) {                                                   \
    check_tables(#level,                                                                                 \
                 {cpu::level::arithmetic_table(), cpu::level::math_table(), cpu::level::compare_table(), \
                  cpu::level::select_table()},                                                           \
                 dtype);                                                                                 \
  }                                                                                                      \
  check_reducers(#level, cpu::level::float_reducers());

TEST_CASE("every instruction set computes the same functions", "[isa]") {
  TERRA_CHECK_ISA(v2)
  if (__builtin_cpu_supports("x86-64-v3")) {
    TERRA_CHECK_ISA(v3)
  }
  if (__builtin_cpu_supports("x86-64-v4")) {
    TERRA_CHECK_ISA(v4)
  }
}
