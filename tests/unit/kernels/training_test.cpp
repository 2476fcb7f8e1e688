#include "kernels/abi/kernel_error.h"
#include "tests/unit/kernels/kernel_case.h"

using namespace terra;
using namespace terra::test;

namespace {

Array classes(Sizes sizes, int64_t count) {
  Array a(DType::I64, std::move(sizes));
  for (int64_t i = 0; i < a.numel(); ++i) a.set(i, static_cast<double>(i * 7 % count));
  return a;
}

Sizes without_classes(Sizes scores) {
  scores.erase(scores.begin() + (scores.size() == 1 ? 0 : 1));
  return scores;
}

}  // namespace

TEST_CASE("negative log likelihood", "[loss]") {
  for (const Sizes& sizes : {Sizes{6}, Sizes{9, 5}, Sizes{3, 4, 2, 3}, Sizes{0, 5}}) {
    const int64_t count = sizes[sizes.size() == 1 ? 0 : 1];
    const Array scores = Array::random(DType::F32, sizes), weight = Array::random(DType::F32, {count}, 2, 0.1, 2);
    const Array target = classes(without_classes(sizes), count);
    for (const char* reduction : {"mean", "sum", "none"}) {
      for (int ignored : {-100, 1}) {
        for (bool weighted : {false, true}) {
          INFO(reduction << " " << ignored << " " << weighted << " classes " << count);
          const auto add_weight = [&](Arguments& a) -> Arguments& { return weighted ? a << weight : a << nullptr; };
          const Sizes loss = std::string(reduction) == "none" ? without_classes(sizes) : Sizes{};
          std::vector<Array> out = {Array(DType::F32, loss), Array(DType::F32, {})};
          Arguments forward;
          check_kernel("nll_loss_forward", add_weight(forward << scores << target) << reduction << ignored, out, 1e-6);
          run(find_kernel("nll_loss_forward"), forward, out);
          const Array grad = Array::random(DType::F32, loss, 5);
          Arguments backward;
          check_kernel("nll_loss_backward",
                       add_weight(backward << grad << target) << out[1] << sizes << reduction << ignored,
                       {Array(DType::F32, sizes)}, 1e-6);
        }
      }
    }
  }
}

TEST_CASE("a target that is no class is an index error", "[loss]") {
  Array target = classes({4}, 3);
  target.set(2, 7);
  const Array scores = Array::random(DType::F32, {4, 3});
  for (const Kernel* kernel : {find_kernel("nll_loss_forward"), find_reference_kernel("nll_loss_forward")}) {
    try {
      run(kernel, Arguments() << scores << target << nullptr << "mean" << -100,
          {Array(DType::F32, {}), Array(DType::F32, {})});
      FAIL("no error");
    } catch (const KernelError& e) {
      CHECK(e.kind() == KernelError::Kind::Index);
      CHECK(std::string(e.what()) == "Target 7 is out of bounds.");
    }
  }
}

namespace {

std::vector<Array> tensors(unsigned seed, double low = -1) {
  std::vector<Array> list;
  for (const Sizes& sizes : {Sizes{3, 5}, Sizes{}, Sizes{0}, Sizes{20000}, Sizes{7, 11}}) {
    list.push_back(Array::random(list.size() == 4 ? DType::F64 : DType::F32, sizes, seed++, low, 1));
  }
  return list;
}

std::vector<Array> joined(const std::vector<std::vector<Array>>& lists) {
  std::vector<Array> all;
  for (const auto& list : lists) all.insert(all.end(), list.begin(), list.end());
  return all;
}

}  // namespace

TEST_CASE("sgd updates many tensors in one call", "[update]") {
  const std::vector<Array> params = tensors(1), grads = tensors(11), buffers = tensors(21), none;
  struct Rule {
    double momentum, dampening, decay;
    bool nesterov, maximize, first;
  };
  for (const Rule& r :
       {Rule{0, 0, 0, false, false, true}, Rule{0, 0, 0.1, false, true, true}, Rule{0.9, 0, 0, false, false, true},
        Rule{0.9, 0, 0, false, false, false}, Rule{0.9, 0.1, 0.01, false, false, false},
        Rule{0.9, 0, 0.01, true, false, false}, Rule{0.9, 0, 0.01, true, true, true}}) {
    const bool has_buffers = r.momentum != 0;
    Arguments args;
    args << params << grads << (has_buffers ? buffers : none) << 0.1 << r.momentum << r.dampening << r.decay
         << r.nesterov << r.maximize << r.first;
    check_kernel("sgd_update", args, has_buffers ? joined({params, buffers}) : params, 1e-6);
  }
  const std::vector<Array> unwritten = tensors(41);
  check_kernel("sgd_update", Arguments() << params << grads << buffers << 0.1 << 0 << 0 << 0 << false << false << false,
               joined({params, unwritten}), 1e-6);
}

TEST_CASE("sgd updates in place and from strided parameters", "[update]") {
  const Array p = Array::random(DType::F32, {6, 4}), g = Array::random(DType::F32, {4, 6}).permuted({1, 0});
  std::vector<Array> expected = {p, p}, got = {p, p};
  const std::vector<Array> grads = {g}, fresh = {p};
  run(find_reference_kernel("sgd_update"),
      Arguments() << fresh << grads << fresh << 0.1 << 0.9 << 0.0 << 0.0 << false << false << false, expected);
  // operands are the outputs themselves
  const View views[2] = {got[0].view(), got[1].view()};
  const View g_view = g.view();
  KernelArg args[10];
  for (int i = 0; i < 3; ++i) args[i].kind = KernelArg::Kind::TensorList, args[i].count = 1;
  args[0].views = &views[0], args[1].views = &g_view, args[2].views = &views[1];
  const Scalar numbers[7] = {0.1, 0.9, 0.0, 0.0, false, false, false};
  for (int i = 0; i < 7; ++i) args[3 + i].kind = KernelArg::Kind::Scalar, args[3 + i].number = numbers[i];
  std::vector<char> memory(4096);
  KernelCall call{views, args, {memory.data() + 64 - reinterpret_cast<uintptr_t>(memory.data()) % 64, 4000}};
  find_kernel("sgd_update")->run(call);
  CHECK(difference(got[0], expected[0]) < 1e-6);
  CHECK(difference(got[1], expected[1]) < 1e-6);
}

TEST_CASE("adam and adamw", "[update]") {
  const auto params = tensors(1), grads = tensors(11), means = tensors(21), squares = tensors(31, 0);
  for (int step : {1, 2, 1000}) {
    for (bool decoupled : {false, true}) {
      for (double decay : {0.0, 0.01}) {
        for (bool maximize : {false, true}) {
          check_kernel("adam_update",
                       Arguments() << params << grads << means << squares << step << 1e-3 << 0.9 << 0.999 << 1e-8
                                   << decay << decoupled << maximize,
                       joined({params, means, squares}), 5e-5);
        }
      }
    }
  }
}
