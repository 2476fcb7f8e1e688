// The op record: everything there is to say about one op, said once.
//
// From a record come the Python function and method, the .pyi stub, the documentation, the eager call, the graph node,
// the fusion class, the gradient and the test matrix. A primitive op = one record + a reference loop + a CPU kernel; a
// composite op = one record whose `composite` is written in other ops.
#pragma once
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/ops/arg.h"
#include "engine/ops/signature.h"

namespace terra {

struct Op;
class Inference;
class Composition;
class Backward;

/// How the tensor operands of an op agree on a dtype before it runs. The front end inserts the conversions.
enum class Promotion : uint8_t {
  None,      ///< operands keep their dtypes; the shape rule checks them
  Common,    ///< PyTorch's result type of the operands
  Floating,  ///< the same; integers and bools become the default float
};

/// Facts about an op, each a sentence that is true iff the bit is set. Those about memory are in rules.h and layout.h,
/// that about draws is in draws.h (bits 8, 13 to 15, 21 to 26 and 31), what is said of 16 bits in halves.h (30).
enum OpFlags : uint32_t {
  kElementwise = 1 << 0,  ///< output element i depends on the (broadcast) input elements i only; has an ElementwiseLoop
  kView = 1 << 1,         ///< the result shares the storage of parameter 0
  kRandom = 1 << 2,       ///< draws from a generator; never folded, merged or reordered with another draw
  kInPlace = 1 << 3,      ///< has the in-place form name_(self, ...)
  kReduction = 1 << 4,    ///< combines elements along dimensions
  kChecksValues = 1 << 5,  ///< may fail for reasons only the element values show (an index out of range)
  kCheap = 1 << 6,         ///< recomputing it in backward is cheaper than keeping the result
  kCompares = 1 << 7,      ///< result dtype is bool
  kNoGradient = 1 << 9,    ///< results never require grad
  kMovesBytes = 1 << 11,   ///< the kernel takes 16-bit floats as they are
  kHost = 1 << 10,         ///< `host` computes it (random draws, data-dependent sizes), no kernel table entry
  kFactory = 1 << 12,      ///< makes a tensor: Python accepts device, layout, pin_memory and requires_grad besides
  kComplex = 1 << 20,      ///< takes complex operands, as kView and kMovesBytes do; others refuse them
  kBarebones = 1 << 27,    ///< takes uint16, uint32 and uint64 operands (refusals.h); others refuse them
  // where Python sees it
  kFunction = 1 << 16,    ///< terra.name
  kMethod = 1 << 17,      ///< Tensor.name
  kFunctional = 1 << 18,  ///< terra.nn.functional.name
  kProperty = 1 << 19,    ///< Tensor.name without a call (T, mT)
  /// Where the signature says Tensor|Number Python passes tensors: numbers come from the engine.
  kTensorsOnly = 1 << 28,
  /// Of several overloads it is taken only if no other finds numbers in the tensors that it is called with.
  kLastResort = 1 << 29,
};

/// The most parameters an op may have; call paths keep that many arguments on the stack.
inline constexpr size_t kMaxParams = 24;

using ShapeRule = void (*)(Inference&);
using CompositeRule = void (*)(Composition&);
using GradientRule = void (*)(Backward&);
using NameRule = std::string_view (*)(std::span<const Arg> args);
/// Computes on real tensors and allocates its own results.
using HostRule = void (*)(std::span<const Arg> args, std::vector<Tensor>& results);

/// Parameters by position.
constexpr uint32_t params(std::initializer_list<int> positions) {
  uint32_t mask = 0;
  for (int p : positions) mask |= 1u << p;
  return mask;
}
/// Which tensors a gradient rule reads: parameters by position, results from the top bits.
constexpr uint32_t saves(std::initializer_list<int> positions) { return params(positions); }
constexpr uint32_t saves_result(int i = 0) { return 1u << (31 - i); }

/// One call for the test matrix: its arguments as Python source, such as "randn(3, 4), dim=1", over the functions of
/// tests/python/ops/_samples.py. `dtypes` says which kind of number they are about ("float", "int", "bool", "complex"):
/// floats are tried in float32 and float64. `differentiable` false: no gradient check.
struct Sample {
  std::string_view args;
  std::string_view dtypes = "float";
  bool differentiable = true;
};

/// What a record says; see the members. Write it with designated initializers, in this order.
struct OpRecord {
  std::string_view name;
  std::string_view signature;
  std::string_view doc;      ///< one sentence
  std::string_view example;  ///< runnable, with `terra` imported; the last line is an expression
  uint32_t flags = 0;
  Promotion promotion = Promotion::None;
  uint32_t promoted = ~0u;            ///< bit p: tensor or number parameter p takes part in promotion
  ShapeRule shape = nullptr;          ///< primitives: dtype and sizes of the results from the arguments
  CompositeRule composite = nullptr;  ///< composites: the op written in ops
  HostRule host = nullptr;            ///< kHost
  GradientRule gradient = nullptr;    ///< emits ops; null: not differentiable
  uint32_t saved = 0;                 ///< saves({0, 1}) | saves_result()
  bool saved_for_others = false;      ///< a product: a saved parameter is for the gradients of the others alone
  uint32_t reuses = 0;                ///< bit p: the kernel's result may lie where parameter p does, if it is like it
  uint32_t writes = 0;                ///< bit p: parameter p (tensor or list) is replaced by result p' in order
  std::string_view aliases = "";      ///< other Python names, comma-separated ("absolute", "arccos")
  /// PyTorch's name for the node that the results carry. Empty: made from the op's name; of a composite, the names of
  /// the nodes inside.
  std::string_view grad_fn = "";
  NameRule grad_fn_of = nullptr;  ///< where it depends on the arguments
  uint32_t seen_absent = 0;       ///< bit p: PyTorch's node shows operand p where it was not given, too
  uint32_t seen_numbers = 0;      ///< bit p: a number for parameter p is a tensor to PyTorch, not another overload
  std::vector<Sample> samples = {};
};

/// A registered op. Calling it emits it through the current emitter: `mul(a, b)`.
struct Op : OpRecord {
  explicit Op(OpRecord record);  ///< parses the signature and enters the registry
  Op(const Op&) = delete;

  bool is(uint32_t flag) const { return (flags & flag) != 0; }
  /// What the record says about the name of the node; empty where it says nothing.
  std::string_view node_name(std::span<const Arg> args) const { return grad_fn_of ? grad_fn_of(args) : grad_fn; }
  const Signature& sig() const { return parsed; }

  /// Arguments in signature order; missing ones take their defaults. Returns the first result.
  template <class... A>
  Tensor operator()(A&&... args) const {
    const Arg boxed[] = {Arg(std::forward<A>(args))..., Arg()};
    return call_first({boxed, sizeof...(A)});
  }
  /// Braced lists as they are usually written: `sum(x, {0, 1}, true)`, `roll(x, {1}, {0})`.
  template <class... A>
  Tensor operator()(const Arg& first, std::initializer_list<int64_t> list, A&&... rest) const {
    return (*this)(first, Arg(list), std::forward<A>(rest)...);
  }
  Tensor operator()(const Arg& first, std::initializer_list<int64_t> list,
                    std::initializer_list<int64_t> second) const {
    return (*this)(first, Arg(list), Arg(second));
  }
  /// The same, all results.
  template <class... A>
  std::vector<Tensor> all(A&&... args) const {
    const Arg boxed[] = {Arg(std::forward<A>(args))..., Arg()};
    return call_all({boxed, sizeof...(A)});
  }
  /// The in-place form: the result becomes the new value of the first argument.
  template <class... A>
  Tensor in_place(A&&... args) const {
    const Arg boxed[] = {Arg(std::forward<A>(args))..., Arg()};
    return call_in_place_first({boxed, sizeof...(A)});
  }

  Signature parsed;
  int id = 0;  ///< dense, in order of registration within this process; never stored in files

 private:
  Tensor call_first(std::span<const Arg> args) const;
  std::vector<Tensor> call_all(std::span<const Arg> args) const;
  Tensor call_in_place_first(std::span<const Arg> args) const;
};

/// Every op, in order of registration.
const std::vector<const Op*>& all_ops();
/// The op of that name (not alias), or null.
const Op* find_op(std::string_view name);

}  // namespace terra
