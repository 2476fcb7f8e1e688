#include "interpreter_hooks/frame_hook/verify.h"

#include "interpreter_hooks/frame_hook/chaos.h"
#include "interpreter_hooks/guards/tensors.h"

#include "engine/autograd/autograd.h"

#include <algorithm>

namespace terra::capture {

namespace {

void spoil(const Tensor& tensor) {
  if (!tensor.numel()) return;
  auto* last_byte = static_cast<unsigned char*>(tensor->data()) + size_of(tensor.dtype()) - 1;
  *last_byte ^= is_bool(tensor.dtype()) ? 1 : 0x40;
}

void spoil(terra::Scalar& scalar) {
  switch (scalar.kind()) {
    case terra::Scalar::Kind::Bool: scalar = terra::Scalar(!scalar.to_bool()); break;
    case terra::Scalar::Kind::Int: scalar = terra::Scalar(scalar.to_int() + 1); break;
    default: scalar = terra::Scalar(scalar.to_double() * 2 + 1); break;
  }
}

void spoil_gradient(const Tensor& leaf) {
  const bool there = autograd::grad(leaf).defined();
  autograd::set_grad(leaf, there ? Tensor() : Tensor::empty(leaf.sizes(), leaf.dtype()));
}

Tensor elements_of(const TensorImpl& t) { return Tensor::view_of(t.storage, t.dtype, t.sizes, t.strides, t.offset); }

/// An effect is a call of C code that is no method of an object of the program's heap: print, a stream's write.
bool reaches_the_world(const EffectProgram& effects) {
  bool found = false;
  effects.program().each([&](const Word* at) {
    const bool call = static_cast<Effect>(head(at).kind) == Effect::CallMethod;
    found = found || (call && Py_TYPE(object_word(at[1])) != &PyMethodDescr_Type);
  });
  return found;
}

std::string exception_text() {
  PyObject* type = PyErr_Occurred();
  return type ? std::string("the exception ") + reinterpret_cast<PyTypeObject*>(type)->tp_name : "nothing";
}

}  // namespace

Verification::Verification(std::shared_ptr<Entry> entry) : entry_(std::move(entry)), registers_(entry_->file) {}

Run& Verification::start(PyObject* const* arguments, PyFunctionObject* function) {
  run_ = {registers_.first(), arguments, function};
  return run_;
}

graph::RunResult Verification::run_graph(LentTensors inputs, const std::vector<Scalar>& scalars,
                                         const std::function<bool()>& before_commit,
                                         std::vector<graph::RunOutput>& outputs, const graph::SameTensors& same) {
  std::vector<Tensor> real;
  for (TensorImpl* tensor : inputs) real.push_back(kept(tensor));
  graph_ = std::make_unique<graph::Rehearsal>(std::move(real));
  likeness_ = std::make_unique<Likeness>(graph_.get());
  const auto ready = [&] {
    if (chaos_is_on()) spoil_numbers(outputs);
    return before_commit();
  };
  const graph::RunResult result = graph_->run(*entry_->graph, scalars, ready, outputs, same);
  if (result.status != graph::RunStatus::Done) return result;
  if (wrong_ >= 0) spoil_tensors(outputs);
  const auto note = [&](const Tensor& tensor) {
    if (graph_->original(tensor).get() == tensor.get()) likeness_->made(tensor);
  };
  for (const graph::RunOutput& output : outputs)
    if (auto* tensor = std::get_if<Tensor>(&output)) note(*tensor);
  for (size_t i = 0; i < graph_->copies().size(); i++) {
    const Tensor gradient = autograd::grad(graph_->copies()[i]);
    if (gradient.defined() && gradient.get() != autograd::grad(graph_->inputs()[i]).get()) note(gradient);
  }
  return result;
}

/// Before the late program, which computes with them.
void Verification::spoil_numbers(std::vector<graph::RunOutput>& outputs) {
  const size_t things = outputs.size() + 3 * graph_->inputs().size() + graph_->drawn().size();
  wrong_ = next_wrong_value(static_cast<int>(things) + count_writes(entry_->effects));
  if (wrong_ < 0 || wrong_ >= static_cast<int>(outputs.size())) return;
  if (auto* scalar = std::get_if<terra::Scalar>(&outputs[wrong_])) spoil(*scalar);
}

/// After the commit, which would cover it up. What is left of the number counts writes.
void Verification::spoil_tensors(std::vector<graph::RunOutput>& outputs) {
  const std::vector<Tensor>& copies = graph_->copies();
  const auto chosen = [&](size_t count) {
    if (wrong_ >= 0 && wrong_ < static_cast<int>(count)) return true;
    wrong_ -= static_cast<int>(count);
    return false;
  };
  if (chosen(outputs.size())) {
    if (auto* tensor = std::get_if<Tensor>(&outputs[wrong_])) spoil(*tensor);
  } else if (chosen(copies.size())) {
    spoil(copies[wrong_]);
  } else if (chosen(copies.size())) {
    copies[wrong_]->storage->bump_version();
  } else if (chosen(copies.size())) {
    spoil_gradient(copies[wrong_]);
  } else if (chosen(graph_->drawn().size())) {
    graph_->drawn()[wrong_].after.left++;
  } else {
    return;
  }
  wrong_ = -1;
}

void Verification::expect_effects() {
  if (!likeness_) likeness_ = std::make_unique<Likeness>(nullptr);
  if (!graph_ && chaos_is_on()) wrong_ = next_wrong_value(count_writes(entry_->effects));
  effects_ = std::make_unique<EffectRehearsal>(entry_->entry, entry_->file, run_);
  effects_->apply(entry_->effects, *likeness_, wrong_);
}

bool Verification::tensors_alike() {
  for (size_t i = 0; i < graph_->inputs().size(); i++) {
    const std::string name = entry_->file.name(entry_->tensors[i]);
    const Tensor &copy = graph_->copies()[i], &real = graph_->inputs()[i];
    const auto assigned = effects_->data().find(static_cast<PyObject*>(real->owner));
    if (assigned != effects_->data().end()) {
      const Tensor data = elements_of(*tensor_of(assigned->second)), now = elements_of(*real);
      if (!likeness_->same_elements(name + ".data", *data, *now)) return false;
      continue;
    }
    if (!likeness_->same_elements(name, *copy, *real)) return false;
    const uint32_t versions = real->version() - graph_->version_before(i);
    if (versions != graph_->versions(i)) {
      return likeness_->differs("the version of " + name, "+" + std::to_string(graph_->versions(i)),
                                "+" + std::to_string(versions));
    }
    if (!likeness_->alike(name + ".grad", autograd::grad(copy), autograd::grad(real))) return false;
  }
  for (auto& drawn : graph_->drawn()) {
    if (!(drawn.after == drawn.generator->state())) {
      return likeness_->differs("random state", "other numbers drawn", "these");
    }
  }
  return true;
}

std::optional<Difference> Verification::compare(PyObject* result) {
  // What an effect on the world raises (a full disk) is the frame's exception where it is served, too.
  if (!result && reaches_the_world(entry_->effects)) return std::nullopt;
  if (!result) return Difference{"the call", "a result", exception_text()};
  if (effects_->alike(*likeness_, result) && graph_) tensors_alike();
  return likeness_->difference();
}

}  // namespace terra::capture
