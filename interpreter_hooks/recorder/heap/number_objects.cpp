// Objects of other types that stand for a number: their value is read by each run.
#include "interpreter_hooks/guards/scalars.h"
#include "interpreter_hooks/recorder/core/recording.h"

namespace terra::capture {

Value Recording::number_behind(const Value& value) {
  if (!value.known() || !(value.is_fact() || value.has_register())) return {};
  PyObject* convert = number_conversion(value.object);
  PyObject* number = convert ? PyObject_CallOneArg(convert, value.object) : nullptr;
  PyErr_Clear();
  if (!number) return {};
  Value result;
  if (is_number(number) && value.is_fact()) {
    result = Value::fact(hold(number));
  } else if (is_number(number)) {
    std::vector<Word> words = call_operands(file(), convert, {reg_of(value)});
    result = host(Op::Call, no_register, no_register, std::move(words), number, {value});
  }
  Py_DECREF(number);
  // That C code takes it for a number holds until its class gets methods of its own.
  if (result.known()) special_methods(Py_TYPE(value.object));
  return result;
}

bool Recording::read_index(Value& value) {
  if (value.known() && !is_atom(value.object)) {
    const Value number = number_behind(value);
    if (!number.known() || !PyLong_CheckExact(number.object)) {
      stop(Reason::UnmodelledContainer, std::string("an index that is a ") + Py_TYPE(value.object)->tp_name);
      return false;
    }
    value = number;
  }
  pin(value);
  return alive_;
}

}  // namespace terra::capture
