#include "interpreter_hooks/effects/rehearsal.h"

#include "interpreter_hooks/guards/functions.h"
#include "interpreter_hooks/guards/tensors.h"

#include <cstring>

namespace terra::capture {

namespace {

bool makes(const Word* at) { return static_cast<Effect>(head(at).kind) < Effect::SetAttribute; }

/// Makes the node of an autograd.Function the history of tensors that the run has made.
bool makes_history(PyObject* callee) {
  return PyCFunction_Check(callee) &&
         !std::strcmp(reinterpret_cast<PyCFunctionObject*>(callee)->m_ml->ml_name, "_function_node");
}

Register target_of(const Word* at) {
  const bool method = static_cast<Effect>(head(at).kind) == Effect::CallMethod;
  return method ? packed_register(at + 3, 0) : head(at).a;
}

}  // namespace

int count_writes(const EffectProgram& effects) {
  int count = 0;
  effects.program().each([&](const Word* at) { count += !makes(at); });
  return count;
}

EffectRehearsal::EffectRehearsal(const Program& entry, const RegisterFile& file, Run& run, const Run& all)
    : file_(file), run_(run) {
  entry.each([&](const Word* at) {
    const Register dst = head(at).dst;
    if (dst >= 0 && dst != no_register && all.registers[dst]) picture(all.registers[dst], dst);
  });
  for (auto& [object, picture] : pictures_) {
    if (!picture) continue;
    for (PyObject* dict : attribute_dicts(object)) owners_[dict] = picture.get();
  }
  for (auto& [dict, owner] : owners_) pictures_.erase(dict);
}

EffectRehearsal::~EffectRehearsal() {
  pictures_.clear();
  for (PyObject* object : held_) Py_DECREF(object);
}

Picture* EffectRehearsal::picture(PyObject* object, Register reg) {
  auto [place, is_new] = pictures_.try_emplace(object);
  if (is_new) place->second = Picture::of(object, file_.name(reg));
  return place->second.get();
}

/// Does to the picture what the instruction does to the object.
void EffectRehearsal::write(Word* at, Likeness& likeness) {
  const bool call = static_cast<Effect>(head(at).kind) == Effect::CallMethod;
  if (call && makes_history(object_word(at[1]))) {
    known_ = effect_kinds[head(at).kind].holds(at, run_) && known_;
    return;
  }
  if (call && Py_TYPE(object_word(at[1])) != &PyMethodDescr_Type) return void(known_ = false);  // print
  PyObject*& target = run_.registers[target_of(at)];
  if (likeness.was_made(target)) {
    known_ = effect_kinds[head(at).kind].holds(at, run_) && known_;
    return;
  }
  const Effect effect = static_cast<Effect>(head(at).kind);
  const bool sets = effect == Effect::SetAttribute && is_tensor(target);
  if (sets && !PyUnicode_CompareWithASCIIString(object_word(at[1]), "data")) {
    data_[target] = b_of(at, run_);
    return;
  }
  if (auto owner = owners_.find(target); owner != owners_.end()) {
    const bool item = effect == Effect::SetItem || effect == Effect::DeleteItem;
    if (!item) return void(known_ = false);
    PyObject* key = run_.registers[static_cast<Register>(at[1])];
    return owner->second->set_attribute(key, effect == Effect::SetItem ? b_of(at, run_) : nullptr);
  }
  Picture* image = picture(target, target_of(at));
  switch (effect) {
    case Effect::SetPlainAttribute:
    case Effect::SetAttribute: return image ? image->set_attribute(object_word(at[1]), b_of(at, run_)) : void();
    case Effect::DeleteAttribute: return image ? image->set_attribute(object_word(at[1]), nullptr) : void();
    case Effect::SetCell: return image->set_cell(b_of(at, run_));
    default: break;
  }
  if (!image || !image->container()) return void(known_ = false);
  PyObject* real = target;
  target = image->container();
  known_ = effect_kinds[head(at).kind].holds(at, run_) && known_;
  target = real;
}

void EffectRehearsal::apply(const EffectProgram& effects, Likeness& likeness, int omit) {
  effects.each_use([&](Register r) { held_.push_back(Py_NewRef(run_.registers[r])); });
  effects.program().each([&](const Word* at) {
    Word* instruction = const_cast<Word*>(at);
    if (!makes(at)) {
      if (omit-- != 0) write(instruction, likeness);
    } else if (effect_kinds[head(at).kind].holds(instruction, run_)) {
      likeness.made(run_.registers[head(at).dst]);
    } else {
      known_ = false;
    }
  });
  result_ = Py_NewRef(run_.registers[effects.result()]);
  held_.push_back(result_);
  PyErr_Clear();
}

bool EffectRehearsal::alike(Likeness& likeness, PyObject* result) const {
  if (!likeness.alike("the result", result_, result)) return false;
  for (auto& [object, picture] : pictures_) {
    if (known_ && picture && !picture->alike(likeness)) return false;
  }
  return true;
}

}  // namespace terra::capture
