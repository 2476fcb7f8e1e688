#include "interpreter_hooks/guards/explain.h"

#include "interpreter_hooks/guards/functions.h"
#include "interpreter_hooks/guards/scalars.h"
#include "interpreter_hooks/guards/tensors.h"

#include <algorithm>

namespace terra::capture {

namespace {

std::string changed(const std::string& what, const std::string& was, const std::string& now) {
  return what + " was " + was + ", now " + now;
}

const char* truth(bool value) { return value ? "True" : "False"; }
std::string type_of(PyObject* object) { return Py_TYPE(object)->tp_name; }

std::string value_miss(const Word* at, const Run& run, const RegisterFile& file) {
  const std::string was = short_text(object_word(at[1])), now = short_text(a_of(at, run));
  return was == now ? name_a(at, file) + " is not the same object any more: " + now
                    : changed(name_a(at, file), was, now);
}

std::string type_miss(const Word* at, const Run& run, const RegisterFile& file) {
  return changed("type of " + name_a(at, file), pointer<PyTypeObject>(at[1])->tp_name, type_of(a_of(at, run)));
}

std::string length_miss(const Word* at, const Run& run, const RegisterFile& file) {
  const Py_ssize_t now = PyObject_Size(a_of(at, run));
  PyErr_Clear();
  return changed("len(" + name_a(at, file) + ")", std::to_string(at[1]), std::to_string(now));
}

std::string truth_miss(const Word* at, const Run&, const RegisterFile& file) {
  return changed("bool(" + name_a(at, file) + ")", truth(at[1]), truth(!at[1]));
}

std::string mode_miss(const Word* at, const Run& run, const RegisterFile& file) {
  const bool grad = at[1] & gradient_mode, now = engine_mode() & gradient_mode;
  const uint64_t changes = at[1] ^ engine_mode();
  if (changes & inference_mode) return "inference mode has changed";
  if (changes & device_mode) return "the default device has changed";
  if (changes & autocast_mode) return "autocast has changed";
  if (changes >> 52) return "whether passes keep their graphs has changed";
  if (changes >> 51) return "who is asked by __torch_function__ has changed";
  if (changes >> 48) return "hooks of saved tensors are in force";
  if (changes >> 40) return "attributes of tensors may hide methods now";
  if (changes >> 8) return "methods of Tensor have been replaced";
  if (grad == now) return "the default dtype has changed";
  (void)run, (void)file;
  return changed("the gradient mode", grad ? "on" : "off", now ? "on" : "off");
}

std::string tensor_miss(const Word* at, const Run& run, const RegisterFile& file) {
  PyObject* object = a_of(at, run);
  const std::string name = name_a(at, file);
  if (Py_TYPE(object) != pointer<PyTypeObject>(at[2])) {
    return changed("type of " + name, pointer<PyTypeObject>(at[2])->tp_name, type_of(object));
  }
  return pointer<TensorFacts>(at[1])->miss(*tensor_of(object));
}

struct Row {
  Op op;
  std::string (*text)(const Word* at, const Run& run, const RegisterFile& file);
};
constexpr Row rows[] = {
    {Op::Is, value_miss},    {Op::Equal, value_miss},   {Op::Pinned, value_miss},
    {Op::Type, type_miss},   {Op::Length, length_miss}, {Op::Size, length_miss},
    {Op::Truth, truth_miss}, {Op::Mode, mode_miss},     {Op::Tensor, tensor_miss},
};

}  // namespace

bool is_read(const Word* at) { return static_cast<Op>(head(at).kind) < Op::Is; }

std::string miss_text(const Word* at, const Run& run, const RegisterFile& file) {
  const Op op = static_cast<Op>(head(at).kind);
  if (is_read(at)) return name_dst(at, file) + " is gone";
  const auto row = std::find_if(std::begin(rows), std::end(rows), [&](const Row& r) { return r.op == op; });
  return row != std::end(rows) ? row->text(at, run, file) : "not so any more: " + kinds[head(at).kind].text(at, file);
}

}  // namespace terra::capture
