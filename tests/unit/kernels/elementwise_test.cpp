#include "kernels/abi/kernel_error.h"
#include "kernels/abi/kernel_index.h"
#include "tests/unit/kernels/complex_case.h"
#include "tests/unit/kernels/elementwise_case.h"

using namespace terra;
using namespace terra::test;

namespace {

std::vector<View> views_of(const std::vector<Array>& arrays) {
  std::vector<View> views;
  for (const Array& a : arrays) views.push_back(a.view());
  return views;
}

/// Operands of that dtype without zeros among integers (divisors), with the op's mask as bool.
std::vector<Array> operands_of(const ElementwiseCase& c, DType dtype, const std::vector<Sizes>& shapes) {
  std::vector<Array> operands;
  for (int p = 0; p < c.operands; ++p) {
    const DType own = p == c.mask ? DType::Bool : dtype;
    Array a(own, shapes[static_cast<size_t>(p) % shapes.size()]);
    std::mt19937 engine(static_cast<unsigned>(p) + 17);
    std::uniform_real_distribution<double> uniform(-6, 6);
    for (int64_t i = 0; i < a.numel(); ++i) {
      double x = uniform(engine);
      if (own == DType::Bool)
        x = x > 0;
      else if (own == DType::U8)
        x = std::abs(x) + 1;
      else if (!is_floating(own))
        x = x < 0 ? x - 1 : x + 1;
      a.set(i, x);
    }
    operands.push_back(a);
  }
  return operands;
}

/// Runs the kernel and the reference into copies of `out` and compares; then checks 1 against 2 threads.
void check(const ElementwiseCase& c, const std::vector<Array>& operands, const Array& out) {
  Arguments arguments;
  fill_arguments(c, arguments);
  Array got = out, expected = out, threaded = out;
  reference::run_elementwise(*find_reference_kernel(c.op), expected.view(), views_of(operands),
                             arguments.args().data());
  cpu::set_threads(1);
  cpu::run_elementwise(*find_kernel(c.op), got.view(), views_of(operands), arguments.args().data());
  cpu::set_threads(2);
  cpu::run_elementwise(*find_kernel(c.op), threaded.view(), views_of(operands), arguments.args().data());
  CHECK(got.bytes() == threaded.bytes());
  std::deque<ArrayThere> there;
  std::vector<View> views;
  for (const Array& a : operands) views.push_back(there.emplace_back(a).view());
  const ArrayThere late(out);
  null_backend().launch_elementwise(*find_kernel(c.op), late.view(), views, arguments.args());
  CHECK(got.bytes() == late.bytes());
  double worst = 0;
  for (int64_t i = 0; i < out.numel(); ++i) {
    const double distance = distance_in_ulps(got.get(i), expected.get(i), out.dtype(), c.scale);
    if (distance > worst) {
      worst = distance;
      UNSCOPED_INFO("element " << i << ": " << got.get(i) << ", reference " << expected.get(i));
    }
  }
  CHECK(worst <= c.ulps);
}

std::vector<DType> dtypes_of(const ElementwiseCase& c) {
  std::vector<DType> result;
  for (int t = 0; t < kDTypeCount; ++t) {
    const auto dtype = static_cast<DType>(t);
    if (find_kernel(c.op)->loops[t] && !is_half(dtype) && !is_complex(dtype)) result.push_back(dtype);
  }
  return result;
}

}  // namespace

TEST_CASE("every elementwise kernel has a reference for the same dtypes", "[elementwise]") {
  for (const auto& [op, kernel] : cpu_kernels().all()) {
    const Kernel* reference = find_reference_kernel(op);
    INFO(op);
    REQUIRE(reference != nullptr);
    for (int t = 0; t < kDTypeCount; ++t) {
      INFO(name_of(static_cast<DType>(t)));
      CHECK((kernel.loops[t] != nullptr) == (reference->loops[t] != nullptr));
    }
  }
}

TEST_CASE("every kernel with loops is tested", "[elementwise]") {
  for (const auto& [op, kernel] : cpu_kernels().all()) {
    bool elementwise = false;
    for (const ElementwiseLoop loop : kernel.loops) elementwise |= loop != nullptr;
    if (!elementwise || op == "to_dtype") continue;
    INFO(op);
    bool found = false;
    for (const ElementwiseCase& c : elementwise_cases()) found |= op == c.op;
    for (const ComplexCase& c : complex_cases()) found |= op == c.op;
    CHECK(found);
  }
}

TEST_CASE("elementwise kernels agree with their references", "[elementwise]") {
  const std::vector<std::vector<Sizes>> shapes = {{{}},
                                                  {{0}},
                                                  {{1}},
                                                  {{7}},
                                                  {{300}},
                                                  {{5, 67}},
                                                  {{4, 5, 6}, {1, 6}, {4, 1, 1}},
                                                  {{40, 30}, {30}, {}},
                                                  {{7}, {300, 7}, {7}},
                                                  {{33}, {}, {1}},
                                                  {{12, 20, 8}, {12, 20, 1}, {20, 8}},
                                                  {{400, 1}, {400, 5}, {5}},
                                                  {{60, 1, 6}, {1, 9, 1}, {60, 1, 1}},
                                                  {{1}, {33}, {33}}};
  for (const ElementwiseCase& c : elementwise_cases()) {
    for (const DType dtype : dtypes_of(c)) {
      for (const auto& operand_shapes : shapes) {
        INFO(c.op << " " << name_of(dtype) << ", shape set " << (&operand_shapes - &shapes[0]));
        Sizes out;
        for (int p = 0; p < c.operands; ++p) {
          const Sizes& s = operand_shapes[static_cast<size_t>(p) % operand_shapes.size()];
          if (out.size() < s.size()) out.insert(out.begin(), s.size() - out.size(), 1);
          for (size_t k = 0; k < s.size(); ++k) {
            int64_t& size = out[out.size() - s.size() + k];
            size = s[k] == 1 ? size : s[k];
          }
        }
        check(c, operands_of(c, dtype, operand_shapes), Array(result_dtype(c.op, dtype), out));
      }
    }
  }
}

TEST_CASE("elementwise kernels take any strides", "[elementwise]") {
  for (const ElementwiseCase& c : elementwise_cases()) {
    for (const DType dtype : dtypes_of(c)) {
      INFO(c.op << " " << name_of(dtype));
      std::vector<Array> operands = operands_of(c, dtype, {{24, 20}});
      operands[0] = operands[0].permuted({1, 0});
      for (size_t p = 1; p < operands.size(); ++p) operands[p] = operands_of(c, dtype, {{40, 24}})[p].halved(0);
      check(c, operands, Array(result_dtype(c.op, dtype), {20, 24}));
      check(c, operands, Array(result_dtype(c.op, dtype), {24, 20}).permuted({1, 0}));
      check(c, operands, Array(result_dtype(c.op, dtype), {20, 48}).halved(1));
    }
  }
}

TEST_CASE("work that is split among threads has the same bits", "[elementwise]") {
  for (const ElementwiseCase& c : elementwise_cases()) {
    if (c.op != std::string("add") && c.op != std::string("tanh") && c.op != std::string("where")) continue;
    INFO(c.op);
    check(c, operands_of(c, DType::F32, {{100, 2003}}), Array(DType::F32, {100, 2003}));
    std::vector<Array> operands = operands_of(c, DType::F32, {{300, 700}});
    operands[0] = operands[0].permuted({1, 0});
    for (size_t p = 1; p < operands.size(); ++p) operands[p] = operands_of(c, DType::F32, {{700, 300}})[p];
    check(c, operands, Array(DType::F32, {700, 300}));
    check(c, operands_of(c, DType::F32, {{300, 90, 1}, {90, 7}, {300, 1, 7}}), Array(DType::F32, {300, 90, 7}));
  }
}

TEST_CASE("an element's value depends on its inputs only", "[elementwise]") {
  for (const ElementwiseCase& c : elementwise_cases()) {
    for (const DType dtype : dtypes_of(c)) {
      INFO(c.op << " " << name_of(dtype));
      Arguments arguments;
      fill_arguments(c, arguments);
      const Kernel& kernel = *find_kernel(c.op);
      const std::vector<Array> operands = operands_of(c, dtype, {{203}});
      const Array together(result_dtype(c.op, dtype), {203}), alone = together;
      cpu::run_elementwise(kernel, together.view(), views_of(operands), arguments.args().data());
      for (int64_t i = 0; i < 203; ++i) {
        char* data[4] = {static_cast<char*>(alone.address(i))};
        for (size_t p = 0; p < operands.size(); ++p) data[p + 1] = static_cast<char*>(operands[p].address(i));
        const int64_t strides[4] = {};
        kernel.loops[static_cast<int>(dtype)](data, strides, 1, arguments.args().data());
      }
      CHECK(alone.bytes() == together.bytes());
    }
  }
}

TEST_CASE("the output may be an input", "[elementwise]") {
  for (const ElementwiseCase& c : elementwise_cases()) {
    if (result_dtype(c.op, DType::F32) != DType::F32 || !find_kernel(c.op)->loops[static_cast<int>(DType::F32)])
      continue;
    for (int p = 0; p < c.operands; ++p) {
      if (p == c.mask) continue;
      INFO(c.op << " into operand " << p);
      Arguments arguments;
      fill_arguments(c, arguments);
      std::vector<Array> operands = operands_of(c, DType::F32, {{203}});
      const Array apart(DType::F32, {203});
      cpu::run_elementwise(*find_kernel(c.op), apart.view(), views_of(operands), arguments.args().data());
      const Array& target = operands[static_cast<size_t>(p)];
      cpu::run_elementwise(*find_kernel(c.op), target.view(), views_of(operands), arguments.args().data());
      CHECK(std::memcmp(target.bytes().data(), apart.bytes().data(), 203 * sizeof(float)) == 0);
    }
  }
}

TEST_CASE("exceptional arguments give what the C library gives", "[elementwise]") {
  const double inf = INFINITY, nan = NAN;
  for (const DType dtype : {DType::F32, DType::F64}) {
    const double tiny = dtype == DType::F32 ? 1e-42 : 1e-310, huge = dtype == DType::F32 ? 1e38 : 5e307;
    const std::vector<double> values = {0.0,  -0.0, 1,    -1,    0.5,  2,     3,   -2,  inf,
                                        -inf, nan,  tiny, -tiny, huge, -huge, 100, -100};
    const auto n = static_cast<int64_t>(values.size());
    for (const ElementwiseCase& c : elementwise_cases()) {
      if (!find_kernel(c.op)->loops[static_cast<int>(dtype)] || c.operands > 2 || c.op == std::string("gelu")) continue;
      if (!c.reference_is_total) continue;
      if (std::string_view(c.op).ends_with("_backward")) continue;  // results of the forward op are never such
      INFO(c.op << " " << name_of(dtype));
      Arguments arguments;
      fill_arguments(c, arguments);
      std::vector<Array> operands;
      for (int p = 0; p < c.operands; ++p) {
        operands.emplace_back(dtype, Sizes{n * n});
        for (int64_t i = 0; i < n * n; ++i) operands.back().set(i, values[static_cast<size_t>(p == 0 ? i % n : i / n)]);
      }
      const Array got(result_dtype(c.op, dtype), {n * n}), expected = got;
      cpu::run_elementwise(*find_kernel(c.op), got.view(), views_of(operands), arguments.args().data());
      reference::run_elementwise(*find_reference_kernel(c.op), expected.view(), views_of(operands),
                                 arguments.args().data());
      for (int64_t i = 0; i < n * n; ++i) {
        const double x = got.get(i), y = expected.get(i);
        INFO("of " << operands[0].get(i) << ", " << (c.operands > 1 ? operands[1].get(i) : 0) << " got " << x
                   << ", reference " << y);
        CHECK(std::isnan(x) == std::isnan(y));
        CHECK(std::isinf(x) == std::isinf(y));
        if (!std::isnan(y)) CHECK(std::signbit(x) == std::signbit(y));
      }
    }
  }
}

TEST_CASE("floats of 16 bits are widened before and rounded behind", "[elementwise]") {
  const auto converted = [](const Array& from, DType dtype) {
    const Array to(dtype, from.sizes());
    KernelArg params[2];
    params[1].kind = KernelArg::Kind::DType;
    params[1].dtype = dtype;
    const View input = from.view();
    cpu::run_elementwise(*find_kernel("to_dtype"), to.view(), {&input, 1}, params);
    return to;
  };
  for (const ElementwiseCase& c : elementwise_cases()) {
    const Kernel& kernel = *find_kernel(c.op);
    for (const DType dtype : {DType::F16, DType::BF16}) {
      if (kernel.loops[static_cast<int>(dtype)] || !kernel.loops[static_cast<int>(DType::F32)]) continue;
      INFO(c.op << " " << name_of(dtype));
      Arguments arguments;
      fill_arguments(c, arguments);
      std::vector<Array> narrow, wide;
      for (int p = 0; p < c.operands; ++p) {
        // Rows of a broadcast operand, every second element of a longer one, and more than a block of each.
        const Array operand = p == 1 ? Array::random(dtype, {1, 700}, 4, -4, 4)
                                     : Array::random(dtype, {3, 1400}, static_cast<unsigned>(p) + 3, -4, 4).halved(1);
        narrow.push_back(operand);
        wide.push_back(converted(operand, DType::F32));
      }
      const DType result = result_dtype(c.op, DType::F32);
      const Array got(result == DType::F32 ? dtype : result, {3, 700}), between(result, {3, 700});
      cpu::run_elementwise(kernel, got.view(), views_of(narrow), arguments.args().data());
      cpu::run_elementwise(kernel, between.view(), views_of(wide), arguments.args().data());
      CHECK(got.bytes() == converted(between, got.dtype()).bytes());
    }
  }
}

TEST_CASE("to_dtype converts every dtype to every other", "[elementwise]") {
  for (int from = 0; from < kDTypeCount; ++from) {
    for (int to = 0; to < kDTypeCount; ++to) {
      const auto in_dtype = static_cast<DType>(from), out_dtype = static_cast<DType>(to);
      INFO(name_of(in_dtype) << " to " << name_of(out_dtype));
      Array in(in_dtype, {300});
      for (int64_t i = 0; i < 300; ++i)
        in.set(i, in_dtype == DType::Bool ? i % 2 : static_cast<double>(i % 100) * 0.75);
      KernelArg params[2];
      params[1].kind = KernelArg::Kind::DType;
      params[1].dtype = out_dtype;
      const Array got(out_dtype, {300}), expected = got;
      const View input = in.view();
      cpu::run_elementwise(*find_kernel("to_dtype"), got.view(), {&input, 1}, params);
      reference::run_elementwise(*find_reference_kernel("to_dtype"), expected.view(), {&input, 1}, params);
      CHECK(got.bytes() == expected.bytes());
    }
  }
}

TEST_CASE("integers of all sizes are divided as the reference does", "[elementwise]") {
  constexpr int64_t count = 2000;
  const Array a(DType::I64, {count}), b = a, got = a, expected = a;
  std::mt19937_64 engine(3);
  for (int64_t i = 0; i < count; ++i) {
    const auto draw = [&](uint64_t bits) { return static_cast<int64_t>(engine()) >> (63 - bits % 63); };
    const int64_t divisor = draw(static_cast<uint64_t>(i));
    b.data<int64_t>()[i] = divisor == 0 ? -1 : divisor;
    // Multiples and their neighbours, where quotients change; unsigned, because those of large divisors wrap.
    const uint64_t multiple = static_cast<uint64_t>(divisor) * static_cast<uint64_t>(draw(20) % 1000);
    a.data<int64_t>()[i] = i % 4 == 0 ? draw(62) : static_cast<int64_t>(multiple + static_cast<uint64_t>(i % 4 - 2));
  }
  const View inputs[] = {a.view(), b.view()};
  for (const char* op : {"floor_divide", "remainder", "fmod", "trunc_divide"}) {
    INFO(op);
    cpu::run_elementwise(*find_kernel(op), got.view(), inputs, nullptr);
    reference::run_elementwise(*find_reference_kernel(op), expected.view(), inputs, nullptr);
    CHECK(got.bytes() == expected.bytes());
  }
}

TEST_CASE("loops run along longer dimensions than the innermost one", "[elementwise]") {
  const Array a = Array::random(DType::F32, {70, 1, 3}), b = Array::random(DType::F32, {50, 3}, 2);
  const Array turned = Array::random(DType::F32, {3, 50}, 3).permuted({1, 0});
  for (const ElementwiseCase& c : elementwise_cases()) {
    if (c.op != std::string("maximum") && c.op != std::string("atan2") && c.op != std::string("lt")) continue;
    INFO(c.op);
    check(c, {a, b}, Array(result_dtype(c.op, DType::F32), {70, 50, 3}));
    check(c, {a, turned}, Array(result_dtype(c.op, DType::F32), {70, 50, 3}));
    check(c, {a, turned}, Array(result_dtype(c.op, DType::F32), {3, 50, 70}).permuted({2, 1, 0}));
  }
}

TEST_CASE("integer division by zero and missing dtypes are errors", "[elementwise]") {
  const Array a(DType::I64, {3}), out = a;
  const View inputs[] = {a.view(), a.view()};
  for (const char* op : {"floor_divide", "remainder", "fmod", "trunc_divide"}) {
    CHECK_THROWS_WITH(cpu::run_elementwise(*find_kernel(op), out.view(), inputs, nullptr), "ZeroDivisionError");
  }
  CHECK_THROWS_WITH(cpu::run_elementwise(*find_kernel("exp"), out.view(), {inputs, 1}, nullptr),
                    "not implemented for 'Long'");
  Array lowest(DType::I64, {1}), minus_one(DType::I64, {1});
  *lowest.data<int64_t>() = INT64_MIN;
  minus_one.set(0, -1);
  const View extreme[] = {lowest.view(), minus_one.view()};
  const Array quotient(DType::I64, {1});
  cpu::run_elementwise(*find_kernel("floor_divide"), quotient.view(), extreme, nullptr);
  CHECK(*quotient.data<int64_t>() == INT64_MIN);
}
