#include "interpreter_hooks/bindings/objects/generator_object.h"

#include <cstring>

#include "engine/errors/errors.h"
#include "engine/random/generator.h"
#include "engine/random/state_bytes.h"
#include "interpreter_hooks/bindings/calls/function_tables.h"
#include "interpreter_hooks/bindings/calls/observer.h"
#include "interpreter_hooks/bindings/objects/dtype_object.h"
#include "interpreter_hooks/bindings/objects/types.h"
#include "interpreter_hooks/bindings/tensor/tensor_object.h"

namespace terra::hooks {
namespace {

struct GeneratorObject {
  PyObject_HEAD Generator* generator;  // strong
};

PyTypeObject* generator_type = nullptr;

Object make(Ref<Generator> generator) {
  Object self = owned(generator_type->tp_alloc(generator_type, 0));
  reinterpret_cast<GeneratorObject*>(self.get())->generator = generator.release();
  return self;
}

Object generator_new(PyTypeObject*, PyObject* args, PyObject* kwargs) {
  static const char* names[] = {"device", nullptr};
  PyObject* device = Py_None;
  if (!PyArg_ParseTupleAndKeywords(args, kwargs, "|O:Generator", const_cast<char**>(names), &device))
    throw PythonError{};
  if (device != Py_None && !device_from(device).is_cpu())
    raise(PyExc_RuntimeError, "Device type META is not supported for torch.Generator() api.");
  return make(Ref<Generator>(new Generator));
}
void generator_dealloc(PyObject* self) {
  PyTypeObject* type = Py_TYPE(self);
  Ref<Generator>::adopt(generator_of(self));
  type->tp_free(self);
  Py_DECREF(type);
}

/// Any int within 64 bits, read as PyTorch reads it: negative ones wrap around.
uint64_t seed_from(Borrowed object) {
  if (!PyLong_Check(object)) {
    Object number = owned(PyNumber_Long(object));
    return seed_from(number.get());
  }
  int overflow = 0;
  const long long small = PyLong_AsLongLongAndOverflow(object, &overflow);
  if (!overflow) return static_cast<uint64_t>(small);
  const uint64_t large = PyLong_AsUnsignedLongLong(object);
  if (PyErr_Occurred()) {
    PyErr_Clear();
    fail(ErrorKind::RuntimeError,
         "Overflow when unpacking long: a seed must be within [-0x8000_0000_0000_0000, "
         "0xffff_ffff_ffff_ffff]");
  }
  return large;
}

Object seed_object(uint64_t seed) { return owned(PyLong_FromUnsignedLongLong(seed)); }

Object state_tensor(const Generator& generator) {
  const auto bytes = to_bytes(generator.state());
  Tensor tensor = Tensor::empty(Dims{static_cast<int64_t>(bytes.size())}, DType::U8);
  std::memcpy(tensor->data(), bytes.data(), bytes.size());
  return Object::steal(wrap(std::move(tensor)));
}
void restore(Generator& generator, Borrowed state) {
  if (!is_tensor(state) || impl_of(state)->dtype != DType::U8)
    raise(PyExc_TypeError, "expected a torch.ByteTensor, but got %s", Py_TYPE(state)->tp_name);
  const TensorImpl& t = *impl_of(state);
  check(t.is_contiguous(), "a random state must be contiguous");
  generator.set_state(random_state_from_bytes({t.data_as<const uint8_t>(), static_cast<size_t>(t.numel)}));
}

Object manual_seed(PyObject* self, PyObject* seed) {
  report_opaque("Generator.manual_seed()");
  generator_of(self)->manual_seed(seed_from(seed));
  return Object::share(self);
}
Object seed(PyObject* self, PyObject*) {
  report_opaque("Generator.seed()");
  return seed_object(generator_of(self)->seed());
}
Object initial_seed(PyObject* self, PyObject*) {
  report_opaque("Generator.initial_seed()");
  return seed_object(generator_of(self)->initial_seed());
}
Object get_state(PyObject* self, PyObject*) {
  report_opaque("Generator.get_state()");
  return state_tensor(*generator_of(self));
}
Object set_state(PyObject* self, PyObject* state) {
  report_opaque("Generator.set_state()");
  restore(*generator_of(self), state);
  return Object::share(self);
}
Object clone_state(PyObject* self, PyObject*) {
  Ref<Generator> copy(new Generator);
  copy->set_state(generator_of(self)->state());
  return make(std::move(copy));
}
/// Whether both would draw the same numbers.
Object is_at(PyObject* self, PyObject* other) {
  if (!is_generator(other)) raise(PyExc_TypeError, "expected a Generator, but got %s", Py_TYPE(other)->tp_name);
  const RandomState &a = generator_of(self)->state(), &b = generator_of(other)->state();
  const bool same = a.seed == b.seed && a.left == b.left && a.next == b.next &&
                    a.has_cached_normal == b.has_cached_normal && !std::memcmp(a.words, b.words, sizeof a.words);
  return owned(PyBool_FromLong(same));
}
Object go_to(PyObject* self, PyObject* other) {
  report_opaque("Generator.set_state()");
  if (!is_generator(other)) raise(PyExc_TypeError, "expected a Generator, but got %s", Py_TYPE(other)->tp_name);
  generator_of(self)->set_state(generator_of(other)->state());
  return Object::share(Py_None);
}
Object device(PyObject* self, void*) { return device_object(generator_of(self)->device()); }

PyMethodDef methods[] = {{"manual_seed", method<manual_seed>(), METH_O, "Starts the stream of a seed."},
                         {"seed", method<seed>(), METH_NOARGS, "Takes a seed from the system and returns it."},
                         {"initial_seed", method<initial_seed>(), METH_NOARGS, "The seed of the stream."},
                         {"get_state", method<get_state>(), METH_NOARGS, "The state as a tensor of bytes."},
                         {"set_state", method<set_state>(), METH_O, "Puts a state back."},
                         {"clone_state", method<clone_state>(), METH_NOARGS, "Another generator in the same state."},
                         {"_is_at", method<is_at>(), METH_O, "Whether another generator is in the same state."},
                         {"_go_to", method<go_to>(), METH_O, "Takes over the state of another generator."},
                         {}};
PyGetSetDef getters[] = {{"device", entry<device>, nullptr, "Where draws are made.", nullptr}, {}};

Borrowed default_object = nullptr;

Object seed_default(PyObject*, PyObject* seed) {
  report_opaque("manual_seed()");
  default_generator().manual_seed(seed_from(seed));
  return Object::share(default_object);
}
Object seed_any(PyObject*, PyObject*) {
  report_opaque("seed()");
  return seed_object(default_generator().seed());
}
Object initial_seed_default(PyObject*, PyObject*) {
  report_opaque("initial_seed()");
  return seed_object(default_generator().initial_seed());
}
Object get_rng_state(PyObject*, PyObject*) {
  report_opaque("get_rng_state()");
  return state_tensor(default_generator());
}
Object set_rng_state(PyObject*, PyObject* state) {
  report_opaque("set_rng_state()");
  restore(default_generator(), state);
  return Object::share(Py_None);
}
PyMethodDef functions[] = {
    {"manual_seed", method<seed_default>(), METH_O, "Seeds the default generator."},
    {"seed", method<seed_any>(), METH_NOARGS, "Seeds the default generator from the system."},
    {"initial_seed", method<initial_seed_default>(), METH_NOARGS, "The default generator's seed."},
    {"get_rng_state", method<get_rng_state>(), METH_NOARGS, "The default generator's state."},
    {"set_rng_state", method<set_rng_state>(), METH_O, "Puts the default generator's state back."},
    {}};

}  // namespace

bool is_generator(Borrowed object) { return Py_TYPE(object) == generator_type; }
Generator* generator_of(Borrowed object) { return reinterpret_cast<GeneratorObject*>(object)->generator; }

void create_generator_type(PyObject* module) {
  PyType_Slot slots[] = {{Py_tp_doc, const_cast<char*>("A stream of random numbers.")},
                         {Py_tp_new, slot<generator_new>()},
                         {Py_tp_dealloc, reinterpret_cast<void*>(generator_dealloc)},
                         {Py_tp_methods, methods},
                         {Py_tp_getset, getters},
                         {0, nullptr}};
  PyType_Spec spec = {"terra.Generator", sizeof(GeneratorObject), 0, Py_TPFLAGS_DEFAULT, slots};
  generator_type = create_type(spec);
  add_object(module, "Generator", generator_type);
  default_object = make(Ref<Generator>(&default_generator())).release();
  add_object(module, "default_generator", default_object);
  add_functions(module, functions);
}

}  // namespace terra::hooks
