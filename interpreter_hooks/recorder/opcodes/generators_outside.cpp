// Generators and iterators that were made before the frame and that nobody has used yet: they are followed as if they
// had been made inside. What they were made of is read when they are first used; effects bring them to where the frame
// left them. A generator can only be left finished.
#include "interpreter_hooks/cpython/class.h"
#include "interpreter_hooks/guards/text.h"
#include "interpreter_hooks/recorder/calls/call_models.h"

#include <algorithm>

namespace terra::capture {

namespace {

void walk(Shadow& shadow, Iterator::Kind kind, PyObject* base) {
  shadow.iterator = std::make_unique<Iterator>();
  shadow.iterator->kind = kind;
  shadow.iterator->base = base;
}

/// (iterator, place)
PyObject* move_iterator(PyObject*, PyObject* const* given, Py_ssize_t) {
  terra_iterator_move(given[0], PyLong_AsSsize_t(given[1]));
  return Py_NewRef(Py_None);
}

}  // namespace

bool Recording::adopt(const Value& value) {
  PyObject* object = value.object;
  if (!alive_ || !value.known()) return false;
  long numbers[3];
  PyObject* base = terra_iterator_start(object);
  const bool range = terra_range_start(object, numbers), generator = terra_generator_is_unstarted(object);
  if (!base && !range && !generator) return false;
  if (Shadow* known = find(object); known && (known->iterator || known->fresh())) return known->iterator != nullptr;
  const std::string path = shadow(value).path;
  Register self = reg_of(shadow(value).self);
  guard_type(object);
  if (base) {
    Value sequence = read(Op::IteratorBase, self, {}, base, "what " + path + " walks over");
    if (!is_sequence(base)) return false;
    know_length(sequence);
    walk(shadow(value), Iterator::Sequence, base);
  } else if (range) {
    guard(Op::RangeStart, self,
          {static_cast<Word>(numbers[0]), static_cast<Word>(numbers[1]), static_cast<Word>(numbers[2])});
    walk(shadow(value), Iterator::Facts, nullptr);
  } else {
    adopt_generator(object, self, path);
  }
  adopted_.push_back(object);
  find(object)->written = true;  // it will be moved on
  return true;
}

void Recording::adopt_generator(PyObject* object, Register self, const std::string& path) {
  TerraFrame* inner = terra_generator_frame(object);
  ShadowFrame* frame = new_frame(inner);
  guard(Op::Unstarted, self, {word_of(file().keep(reinterpret_cast<PyObject*>(frame->code)))});
  auto* function = reinterpret_cast<PyObject*>(terra_frame_function(inner));
  frame->function = read(Op::GeneratorPart, self, {0}, function, path + "'s function");
  frame->started = true;  // its cells exist
  frame->generator_object = object;
  for (int i = 0; i < frame->code->co_nlocalsplus && alive_; i++) {
    PyObject* slot = terra_frame_localsplus(inner)[i];
    if (!slot) continue;
    const std::string name = path + "'s " + utf8_of(terra_code_slot_name(frame->code, i));
    frame->locals[i] = read(Op::GeneratorPart, self, {static_cast<Word>(i) + 1}, slot, name);
  }
  generators_[inner] = frame;
  walk(*find(object), Iterator::Generator, object);
}

/// The generator has returned or raised: in another run it has not even started, and close() ends it.
void Recording::generator_ended(PyObject* generator) {
  if (std::find(adopted_.begin(), adopted_.end(), generator) == adopted_.end()) return;
  Value self = find(generator)->self;
  static PyObject* const close = PyDict_GetItemString(terra_class_dict(&PyGen_Type), "close");
  write({Effect::CallMethod, self, close, {}, {self}, "", {}});
}

bool Recording::left_suspended() const {
  return std::any_of(adopted_.begin(), adopted_.end(), [&](PyObject* object) {
    if (!PyGen_CheckExact(object)) return false;
    auto found = generators_.find(terra_generator_frame(object));
    return found != generators_.end() && found->second->resumed && !found->second->ended;
  });
}

/// Brings iterators to the places where they are now. The real ones say where that is: zip takes an item more from
/// those before the one that ends first, and what they walk over may have lost items since.
void Recording::move_iterators() {
  for (PyObject* object : adopted_) {
    if (PyGen_CheckExact(object)) continue;
    const Py_ssize_t index = terra_iterator_place(object);
    if (index == 0) continue;
    const Value place = Value::fact(hold_new(PyLong_FromSsize_t(index)));
    const Value self = find(object)->self;
    PyObject* moves = c_function<move_iterator>("move_iterator");
    write({Effect::CallMethod, self, moves, {}, {self, place}, "", {}});
  }
}

}  // namespace terra::capture
