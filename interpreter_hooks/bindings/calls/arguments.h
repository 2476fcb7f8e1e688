// The arguments of one op call, parsed from a vectorcall into the engine's form by the op's signature.
#pragma once
#include <array>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "engine/ops/op.h"
#include "interpreter_hooks/bindings/entry.h"

namespace terra::hooks {

/// What parsing needs to know of an op, prepared once.
struct Parameters {
  explicit Parameters(const Op& op);

  const Op& op;
  std::vector<PyObject*> names;  ///< interned, in signature order; kept for ever
  size_t positional = 0;         ///< parameters before "*"
  int varargs = -1;              ///< the parameter that takes the rest of the positional arguments, or -1
  bool is_factory = false;       ///< makes tensors from sizes or another's metadata: takes device=, requires_grad=, ...
  int dtype_of_out = -1;         ///< of factories from numbers only: the dtype
};

/// Lives on the stack of the call; nothing is allocated for calls without long lists. Everything the Args point to is
/// here or borrowed from the caller's objects.
class Arguments {
 public:
  static constexpr size_t kMost = 24;

  /// `name` is how messages call the function, null if there are to be none; `as_method` leaves self out of positions
  /// in messages.
  Arguments(const Parameters& parameters, const char* name, bool as_method)
      : parameters_(parameters), name_(name), as_method_(as_method) {}
  Arguments(const Arguments&) = delete;

  /// Throws in PyTorch's words where the arguments don't fit. `count` positional values, then those of `keywords`.
  void parse(PyObject* const* values, size_t count, PyObject* keywords);
  /// The same, but a mismatch is an answer: false (overload resolution). `tensors_stay`: no tensor counts as the number
  /// in it.
  bool fits(PyObject* const* values, size_t count, PyObject* keywords, bool tensors_stay);

  /// What a factory makes has the dtype of the tensor given as out=, unless it is asked for one: that must be the same.
  void take_dtype_of_out();

  std::span<const Arg> args() const { return {args_.data(), count_}; }
  std::span<PyObject* const> sources() const { return {sources_.data(), count_}; }
  std::span<PyObject* const> positional() const { return positional_; }

  /// Arguments of every function or of factories only that are no parameters of the op. Borrowed, null: not given.
  Borrowed out = nullptr;
  Borrowed requires_grad = nullptr;
  /// Where a factory is asked to make its result.
  std::optional<Device> device;
  /// Another tensor is given in place of one of another device whose metadata the factory takes.
  void take_device();

 private:
  friend struct Converters;
  // False: they don't fit. With a name, that is an exception.
  bool take(PyObject* const* values, size_t count, PyObject* keywords);
  bool set(size_t param, Borrowed value, size_t position);
  bool convert(size_t param, Borrowed value);
  bool take_keyword(Borrowed name, Borrowed value);
  bool are_too_many(size_t count) const;
  bool take_extra(Borrowed name, Borrowed value);
  bool take_varargs(size_t param, PyObject* const* values, size_t count);
  bool take_defaults(size_t given);
  bool is_no_number(Borrowed value) const;
  bool is_wrong_type(size_t param, Borrowed value, size_t position) const;

  int64_t* space(size_t ints);
  bool ints_from(Borrowed sequence, Arg& out);

  const Parameters& parameters_;
  const char* name_;
  bool as_method_;
  bool tensors_stay_ = false;
  size_t count_ = 0;
  std::array<Arg, kMost> args_;
  std::array<PyObject*, kMost> sources_;
  std::span<PyObject* const> positional_;
  std::array<int64_t, 40> ints_;
  size_t ints_used_ = 0;
  std::vector<std::vector<int64_t>> long_ints_;
  std::vector<std::vector<Tensor>> lists_;
  Tensor stand_in_;  ///< see take_device()
};

/// The signature of an op as Python may call it.
std::string signature_of(const Op& op);
/// "Tensor", "int", "tuple of ints": how messages name what a parameter wants.
const char* expected_type(const Param& param);
/// "Tensor", "int", "list": how messages name what was given.
const char* given_type(Borrowed value);

}  // namespace terra::hooks
