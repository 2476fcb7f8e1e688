// Tensors on a device whose memory the host can't read and whose work is done later.
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <catch2/catch.hpp>
#include <csignal>

#include "engine/autograd/autograd.h"
#include "engine/eager/eager.h"
#include "engine/errors/errors.h"
#include "engine/ops/arithmetic.h"
#include "engine/ops/call.h"
#include "engine/tensor/transfer.h"
#include "kernels/abi/kernel_error.h"
#include "tests/unit/null_device.h"

using namespace terra;
using terra::test::kNullDevice;

namespace {

Tensor numbers(Dims sizes, float first = 1) {
  eager::start();
  terra::test::null_backend();
  Tensor t = Tensor::empty(sizes, DType::F32);
  for (int64_t i = 0; i < t.numel(); ++i) t->data_as<float>()[i] = first + static_cast<float>(i);
  return t;
}
Tensor there(const Tensor& t) { return moved_to(t, kNullDevice); }
const Op& op(const char* name) { return *find_op(name); }
std::vector<float> elements(const Tensor& t) {
  const Tensor here = op("clone")(to_host(t), "contiguous_format");
  return {here->data_as<float>(), here->data_as<float>() + here.numel()};
}

}  // namespace

TEST_CASE("a program whose host reads the null device ends there", "[device]") {
  const Tensor x = there(numbers({4}));
  const pid_t child = fork();
  if (child == 0) {
    std::signal(SIGSEGV, SIG_DFL);
    volatile const float* element = x->data_as<float>();
    _exit(*element == 1 ? 0 : 1);
  }
  int status = 0;
  REQUIRE(waitpid(child, &status, 0) == child);
  CHECK(WIFSIGNALED(status));
  CHECK(WTERMSIG(status) == SIGSEGV);
  CHECK(elements(x) == std::vector<float>{1, 2, 3, 4});
}

TEST_CASE("operands that were left with the host are refused by the null device", "[device]") {
  const Tensor a = numbers({4}), x = there(a), y = Tensor::empty(Dims{4}, DType::F32, kNullDevice);
  const std::array forgotten = {x->view(), a->view()};
  const Backend& backend = test::null_backend();
  backend.launch_elementwise(*backend.find_kernel("mul"), y->view(), forgotten, std::array<KernelArg, 2>{});
  CHECK_THROWS_WITH(backend.synchronize(), "the null device was given memory of the host");
}

TEST_CASE("a copy that is left out shows", "[device]") {
  constexpr Device kForgetful{DeviceKind::Private, 1};
  static Backend forgetful = test::null_backend();
  forgetful.copy_in = [](void*, const void*, size_t) {};
  register_backend(kForgetful, forgetful);
  CHECK(elements(moved_to(numbers({2}), kForgetful)) != std::vector<float>{1, 2});
}

TEST_CASE("what was launched is found wrong when somebody waits", "[device]") {
  const Tensor x = there(numbers({3})), y = Tensor::empty(Dims{1}, DType::F32, kNullDevice);
  Tensor index = Tensor::empty(Dims{1}, DType::I64);
  index->data_as<int64_t>()[0] = 9;
  index = there(index);
  const View operands[] = {x->view(), index->view()}, out = y->view();
  KernelArg args[3];
  for (int i : {0, 2}) {
    args[i].kind = KernelArg::Kind::Tensor;
    args[i].count = 1;
    args[i].views = &operands[i / 2];
  }
  args[1].kind = KernelArg::Kind::Scalar;
  args[1].number = Scalar(int64_t{0});
  const Backend& backend = test::null_backend();
  backend.launch(*backend.find_kernel("index_select"), {{&out, 1}, args, {}});
  CHECK_THROWS_AS(backend.synchronize(), KernelError);
  CHECK_NOTHROW(backend.synchronize());
}

TEST_CASE("a device has a name", "[device]") {
  CHECK(to_string(Device()) == "cpu");
  CHECK(to_string(Device{DeviceKind::Cuda, 1}) == "cuda:1");
  CHECK(to_string(kNullDevice) == "privateuseone:0");
  CHECK(find_backend({DeviceKind::Cuda, 0}) == nullptr);
  CHECK_THROWS_WITH(Tensor::empty(Dims{2}, DType::F32, Device{DeviceKind::Cuda, 0}),
                    "There is no device 'cuda:0' here.");
}

TEST_CASE("copies wait for what was launched before them", "[device]") {
  Tensor t = there(numbers({1000}));
  for (int k = 0; k < 50; ++k) t = op("add")(t, 1);
  CHECK(t.device() == kNullDevice);
  CHECK(elements(t)[0] == 51);
  CHECK(elements(t)[999] == 1050);
  const Tensor turned = op("t")(there(numbers({2, 3})));
  CHECK(turned.device() == kNullDevice);
  CHECK(to_host(turned).strides() == turned.strides());
  CHECK(elements(turned) == std::vector<float>{1, 4, 2, 5, 3, 6});
}

TEST_CASE("a call is computed where its tensors are", "[device]") {
  const Tensor a = numbers({2, 2}), x = there(a);
  CHECK(elements(op("mm")(x, x)) == elements(op("mm")(a, a)));
  CHECK(elements(op("add")(x, numbers({}, 3))) == elements(op("add")(a, 3)));  // no dimensions: goes anywhere
  CHECK_THROWS_WITH(op("add")(x, a),
                    "Expected all tensors to be on the same device, but found at least two devices, privateuseone:0 "
                    "and cpu!");
  op("copy").in_place(x, op("mul")(a, 2));
  CHECK(elements(x) == std::vector<float>{2, 4, 6, 8});
  op("add").in_place(x, x);
  CHECK(elements(x) == std::vector<float>{4, 8, 12, 16});
}

TEST_CASE("ops that make tensors of nothing make them on the current device", "[device]") {
  numbers({});
  const DeviceScope scope(kNullDevice);
  CHECK(op("full")(Dims{2}, 7.0).device() == kNullDevice);
  CHECK(elements(op("full")(Dims{2}, 7.0)) == std::vector<float>{7, 7});
  CHECK(op("rand")(Dims{2}).device() == kNullDevice);
}

TEST_CASE("ops that the host computes fetch their operands", "[device]") {
  const Tensor a = op("add")(op("mul")(op("eye")(3), 4), numbers({3, 3}, 0)), x = there(a);
  CHECK(op("linalg_inv")(x).device() == kNullDevice);
  CHECK(elements(op("linalg_inv")(x)) == elements(op("linalg_inv")(a)));
  CHECK(op("nonzero")(x).device() == kNullDevice);
}

TEST_CASE("gradients are where their tensors are", "[device]") {
  const auto gradient = [](Tensor x) {
    autograd::set_requires_grad(x, true);
    const Tensor y = op("sum")(op("mul")(op("tanh")(op("mm")(x, x)), op("softmax")(x, 1)));
    autograd::backward({&y, 1}, {}, false, false);
    return autograd::grad(x);
  };
  const Tensor a = numbers({3, 3}, -2);
  const Tensor there_too = gradient(there(a));
  CHECK(there_too.device() == kNullDevice);
  CHECK(elements(there_too) == elements(gradient(op("clone")(a))));
}

TEST_CASE("what a kernel finds wrong with values is said at once", "[device]") {
  const Tensor x = there(numbers({3}));
  Tensor index = Tensor::empty(Dims{1}, DType::I64);
  index->data_as<int64_t>()[0] = 9;
  CHECK_THROWS_AS(op("index_select")(x, 0, there(index)), Error);
  CHECK(elements(x) == std::vector<float>{1, 2, 3});
}
