// The Python functions and methods generated from the op records.
#pragma once
#include <vector>

#include "interpreter_hooks/bindings/calls/arguments.h"

namespace terra::hooks {

/// What one callable stands for: an op, or several of which the arguments choose.
struct OpFunctionSpec {
  std::string name;                           ///< as Python sees it: "add", "add_", "max"
  std::vector<const Parameters*> candidates;  ///< the first that fits is meant; never empty
  bool in_place = false;                      ///< the form name_(self, ...)
  bool takes_inplace = false;                 ///< terra.nn.functional: a last parameter `inplace`
  bool as_method = false;                     ///< found in a type: binds self
};

/// A new callable object. Methods are method descriptors: calling x.add(y) makes no bound method.
Object make_op_function(OpFunctionSpec spec);

/// Parameters of an op, prepared on first use and kept.
const Parameters& parameters_of(const Op& op);

bool is_op_function(Borrowed function);
/// One that is found in the type Tensor.
bool is_op_method(Borrowed function);

/// Calls a spec with vectorcall arguments; `self_function` is what overrides get.
Object call_op(const OpFunctionSpec& spec, Borrowed self_function, PyObject* const* values, size_t count,
               PyObject* keywords);

void create_op_function_types(PyObject* module);

}  // namespace terra::hooks
