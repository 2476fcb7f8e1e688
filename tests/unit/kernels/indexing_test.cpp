#include "kernels/abi/kernel_error.h"
#include "tests/unit/kernels/kernel_case.h"

using namespace terra;
using namespace terra::test;

namespace {

Array indices_below(int64_t bound, Sizes sizes, DType dtype = DType::I64, bool negative = false) {
  Array a(dtype, std::move(sizes));
  std::mt19937 engine(11);
  for (int64_t i = 0; i < a.numel(); ++i) {
    const auto k = static_cast<int64_t>(engine() % static_cast<unsigned>(bound));
    a.set(i, static_cast<double>(negative && engine() % 2 ? k - bound : k));
  }
  return a;
}

/// A list of index tensors, an absent one for ":".
struct IndexList {
  std::vector<View> views;
  KernelArg arg;
  explicit IndexList(const std::vector<const Array*>& arrays) {
    for (const Array* a : arrays) views.push_back(a ? a->view() : View{});
    arg.kind = KernelArg::Kind::TensorList;
    arg.count = static_cast<uint32_t>(views.size());
    arg.views = views.data();
  }
};

KernelArg tensor(const View& v) {
  KernelArg arg;
  arg.kind = KernelArg::Kind::Tensor;
  arg.views = &v;
  return arg;
}

void check_index(const Array& self, const std::vector<const Array*>& indices, const Sizes& result) {
  const IndexList list(indices);
  const View in = self.view();
  const std::vector<KernelArg> args = {tensor(in), list.arg};
  const Array got(self.dtype(), result), expected = got;
  const View got_view = got.view(), expected_view = expected.view();
  find_kernel("index")->run({{&got_view, 1}, args, {}});
  find_reference_kernel("index")->run({{&expected_view, 1}, args, {}});
  CHECK(got.bytes() == expected.bytes());

  const Array values = Array::random(self.dtype(), result, 21);
  const View value_view = values.view();
  for (const bool accumulate : {false, true}) {
    KernelArg flag;
    flag.kind = KernelArg::Kind::Scalar;
    flag.number = Scalar(accumulate);
    const std::vector<KernelArg> put = {tensor(in), list.arg, tensor(value_view), flag};
    const Array put_got(self.dtype(), self.sizes()), put_expected = put_got;
    const View put_view = put_got.view(), put_expected_view = put_expected.view();
    find_kernel("index_put")->run({{&put_view, 1}, put, {}});
    find_reference_kernel("index_put")->run({{&put_expected_view, 1}, put, {}});
    CHECK(difference(put_got, put_expected) < 1e-6);
  }
}

}  // namespace

TEST_CASE("index_select, gather and scatter agree with their references", "[indexing]") {
  for (const DType dtype : {DType::F32, DType::F64, DType::I64, DType::I32, DType::U8, DType::U16, DType::U64}) {
    for (const DType index : {DType::I64, DType::I32}) {
      const Array x = Array::random(dtype, {6, 7, 5}, 1, 0, 50), turned = x.permuted({2, 0, 1});
      check_kernel("index_select", Arguments() << x << 1 << indices_below(7, {9}, index), {Array(dtype, {6, 9, 5})}, 0);
      check_kernel("index_select", Arguments() << x << -1 << indices_below(5, {4}, index), {Array(dtype, {6, 7, 4})},
                   0);
      check_kernel("index_select", Arguments() << turned << 0 << indices_below(5, {8}, index),
                   {Array(dtype, {8, 6, 7})}, 0);
      check_kernel("gather", Arguments() << x << 1 << indices_below(7, {6, 3, 5}, index), {Array(dtype, {6, 3, 5})}, 0);
      check_kernel("gather", Arguments() << turned << 2 << indices_below(7, {2, 6, 11}, index),
                   {Array(dtype, {2, 6, 11})}, 0);
      const Array source = Array::random(dtype, {6, 8, 5}, 2, 0, 50);
      check_kernel("scatter", Arguments() << x << 1 << indices_below(7, {6, 8, 4}, index) << source,
                   {Array(dtype, {6, 7, 5})}, 0);
      check_kernel("scatter_add", Arguments() << x << 1 << indices_below(7, {6, 8, 4}, index) << source,
                   {Array(dtype, {6, 7, 5})}, 1e-6);
    }
  }
  for (const DType dtype : {DType::F32, DType::I32}) {
    const Array x = Array::random(dtype, {6, 7, 5}, 1, 0, 50), source = Array::random(dtype, {6, 8, 5}, 2, 0, 50);
    for (const int axis : {0, 1, 2}) {  // over which the index was expanded
      const Array index = indices_below(6, {6, 7, 5}).expanded(axis, axis == 1 ? 7 : 5);
      check_kernel("gather", Arguments() << x << 1 << index, {Array(dtype, index.sizes())}, 0);
      check_kernel("scatter", Arguments() << x << 1 << index << source, {Array(dtype, {6, 7, 5})}, 0);
      check_kernel("scatter_add", Arguments() << x << 1 << index << source, {Array(dtype, {6, 7, 5})}, 1e-6);
      for (const char* how : {"amax", "amin", "prod"})
        check_kernel("scatter_combine", Arguments() << x << 1 << index << source << how, {Array(dtype, {6, 7, 5})},
                     1e-6);
    }
  }
  check_kernel("gather", Arguments() << Array::random(DType::F32, {}) << 0 << indices_below(1, {}),
               {Array(DType::F32, {})}, 0);
}

TEST_CASE("advanced indexing puts the index dimensions where PyTorch does", "[indexing]") {
  const Array x = Array::random(DType::F32, {4, 5, 6, 3}), i = indices_below(4, {2, 3}, DType::I64, true),
              j = indices_below(5, {3}, DType::I64, true), k = indices_below(6, {2, 1}, DType::I64, true),
              one = indices_below(4, {});
  check_index(x, {&i}, {2, 3, 5, 6, 3});
  check_index(x, {nullptr, &j}, {4, 3, 6, 3});
  check_index(x, {&i, &j}, {2, 3, 6, 3});
  check_index(x, {nullptr, &j, &k}, {4, 2, 3, 3});
  check_index(x, {&i, nullptr, &k}, {2, 3, 5, 3});
  check_index(x, {&one, nullptr, &k}, {2, 1, 5, 3});
  check_index(x, {nullptr, nullptr, nullptr}, {4, 5, 6, 3});
  check_index(x.permuted({3, 2, 1, 0}), {nullptr, &k, &j}, {3, 2, 3, 4});
  const Array none(DType::I64, {0});
  check_index(x, {&none}, {0, 5, 6, 3});
}

TEST_CASE("embeddings and their gradients", "[indexing]") {
  const Array weight = Array::random(DType::F32, {50, 17}), indices = indices_below(50, {9, 4});
  check_kernel("embedding_forward", Arguments() << weight << indices, {Array(DType::F32, {9, 4, 17})}, 0);
  check_kernel("embedding_forward", Arguments() << Array::random(DType::F32, {17, 50}).permuted({1, 0}) << indices,
               {Array(DType::F32, {9, 4, 17})}, 0);
  check_kernel("embedding_backward", Arguments() << Array::random(DType::F32, {9, 4, 17}) << indices << 50 << -1,
               {Array(DType::F32, {50, 17})}, 1e-6);
  check_kernel("embedding_backward", Arguments() << Array::random(DType::F32, {9, 4, 17}) << indices << 50 << 3,
               {Array(DType::F32, {50, 17})}, 1e-6);
  check_kernel("embedding_backward",
               Arguments() << Array::random(DType::F32, {4000, 40}) << indices_below(3000, {4000}) << 3000 << -1,
               {Array(DType::F32, {3000, 40})}, 1e-5);
}

TEST_CASE("runs of neighbours are selected as other indices are", "[indexing]") {
  Array runs(DType::I64, {40});
  for (int64_t i = 0; i < 40; ++i) runs.set(i, static_cast<double>(i < 3 ? 2 - i : i < 30 ? i - 3 : 40 - i));
  for (const DType dtype : {DType::F32, DType::I64, DType::U8, DType::C128}) {
    const Array x = Array::random(dtype, {3, 5, 30}, 1, 0, 50);
    const std::vector<Array> out = {Array(dtype, {3, 5, 40})};
    check_kernel("index_select", Arguments() << x << 2 << runs, out, 0);
    check_kernel("index_select", Arguments() << x.permuted({1, 0, 2}) << -1 << runs, {Array(dtype, {5, 3, 40})}, 0);
    check_kernel("index_select", Arguments() << Array::random(dtype, {60}, 2, 0, 50).halved(0) << 0 << runs,
                 {Array(dtype, {40})}, 0);
  }
}

TEST_CASE("indices out of range are errors in PyTorch's words", "[indexing]") {
  const Array x = Array::random(DType::F32, {6}), out(DType::F32, {1});
  Array seven(DType::I64, {1}), low(DType::I64, {1});
  seven.set(0, 7);
  low.set(0, -8);
  const auto call = [&](const char* op, const Array& index) {
    run(find_kernel(op), Arguments() << x << 0 << index << x, {out});
  };
  CHECK_THROWS_WITH(call("index_select", seven), "index out of range in self");
  CHECK_THROWS_WITH(call("gather", seven), "index 7 is out of bounds for dimension 0 with size 6");
  CHECK_THROWS_WITH(run(find_kernel("scatter"), Arguments() << x << 0 << low << x, {Array(DType::F32, {6})}),
                    "index -8 is out of bounds for dimension 0 with size 6");
  const IndexList list({&low});
  const View in = x.view(), to = out.view();
  const std::vector<KernelArg> args = {tensor(in), list.arg};
  try {
    find_kernel("index")->run({{&to, 1}, args, {}});
    FAIL("no error");
  } catch (const KernelError& e) {
    CHECK(e.kind() == KernelError::Kind::Index);
    CHECK(std::string(e.what()) == "index -8 is out of bounds for dimension 0 with size 6");
  }
}
