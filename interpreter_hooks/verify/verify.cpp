#include "interpreter_hooks/verify/verify.h"

#include "interpreter_hooks/effects/elements.h"
#include "interpreter_hooks/guards/tensors.h"
#include "interpreter_hooks/verify/chaos.h"

#include "engine/autograd/autograd.h"
#include "engine/errors/errors.h"
#include "engine/tensor/transfer.h"

#include <algorithm>
#include <cmath>

namespace terra::capture {

namespace {

/// What computes in another order makes no more errors of one unit in the last place than this.
constexpr double rounding_errors = 64;

void spoil(const Tensor& tensor) {
  if (!tensor.numel()) return;
  const size_t size = size_of(tensor.dtype());
  change_on_host(tensor.device(), tensor->data(), size, [&](void* element) {
    static_cast<unsigned char*>(element)[size - 1] ^= is_bool(tensor.dtype()) ? 1 : 0x40;
  });
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
  autograd::set_grad(leaf, there ? Tensor() : Tensor::empty(leaf.sizes(), leaf.dtype(), leaf.device()));
}

Tensor elements_of(const TensorImpl& t) { return Tensor::view_of(t.storage, t.dtype, t.sizes, t.strides, t.offset); }

std::string exception_text() {
  PyObject* type = PyErr_Occurred();
  return type ? std::string("the exception ") + reinterpret_cast<PyTypeObject*>(type)->tp_name : "nothing";
}

}  // namespace

void spoil(std::vector<graph::RunOutput>& outputs) {
  if (outputs.empty()) return;
  if (auto* tensor = std::get_if<Tensor>(&outputs.front()))
    spoil(*tensor);
  else
    spoil(std::get<terra::Scalar>(outputs.front()));
}

Verification::Verification(std::shared_ptr<Entry> entry)
    : asked_(std::move(entry)), entry_(asked_), registers_(asked_->file) {}

Run& Verification::start(PyObject* const* arguments, PyFunctionObject* function) {
  own_run_ = {registers_.first(), arguments, function};
  return own_run_;
}

bool Verification::look_at_all() {
  all_registers_ = std::make_unique<Registers>(entry_->file);
  all_ = {all_registers_->first(), own_run_.arguments, own_run_.function};
  own_run_.random.put_back();
  const bool holds = entry_->entry.run(all_) < 0;
  own_run_.random = std::move(all_.random);
  return holds;
}

graph::RunResult Verification::run_graph(LentTensors inputs, const std::vector<Scalar>& scalars,
                                         const std::function<bool()>& before_commit,
                                         std::vector<graph::RunOutput>& outputs, const graph::SameTensors& same,
                                         graph::Release* release) {
  std::vector<Tensor> real;
  for (TensorImpl* tensor : inputs) real.push_back(kept(tensor));
  graph_ = std::make_unique<graph::Rehearsal>(real);
  likeness_ = std::make_unique<Likeness>(graph_.get());
  for (const Register input : entry_->tensors) inputs_.push_back(entry_->file.name(input));
  const auto ready = [&] {
    if (chaos_is_on()) spoil_numbers(outputs);
    return before_commit();
  };
  const graph::RunResult result = graph_->run(*entry_->graph, scalars, ready, outputs, same, release);
  if (result.status != graph::RunStatus::Done) return result;
  if (wrong_ >= 0) spoil_tensors(outputs);
  note_made(outputs);
  if (compares_gradients_) tape_ = tape_of(*graph_, outputs);
  if (measures_rounding_) allow_for_rounding(scalars, outputs);
  return result;
}

bool Verification::lend_copies(const Entry& entry, std::vector<TensorImpl*>& tensors, size_t most_bytes) {
  if (!graph_) graph_ = std::make_unique<graph::Rehearsal>();
  const auto is_among = [](const std::vector<Tensor>& list, const TensorImpl* tensor) {
    return std::any_of(list.begin(), list.end(), [&](const Tensor& t) { return t.get() == tensor; });
  };
  std::vector<Tensor> more;
  size_t bytes = graph_->bytes();
  for (size_t i = 0; i < tensors.size(); i++) {
    TensorImpl* const tensor = tensors[i];
    if (is_among(graph_->copies(), tensor) || is_among(graph_->inputs(), tensor) || is_among(more, tensor)) continue;
    bytes += tensor->storage->bytes();
    more.push_back(kept(tensor));
    inputs_.push_back(entry.file.name(entry.tensors[i]));
  }
  if (bytes > most_bytes) return false;
  graph_->add(more);
  for (TensorImpl*& tensor : tensors)
    if (!is_among(graph_->copies(), tensor)) tensor = graph_->copy_of(tensor).get();
  return true;
}

graph::RunResult Verification::run_paths(const std::vector<Generator*>& generators,
                                         const std::function<graph::RunResult()>& run,
                                         const std::vector<graph::RunOutput>& outputs) {
  if (!graph_) graph_ = std::make_unique<graph::Rehearsal>();
  const graph::RunResult result = graph_->run(generators, run);
  if (result.status != graph::RunStatus::Done) return result;
  likeness_ = std::make_unique<Likeness>(graph_.get());
  note_made(outputs);
  if (compares_gradients_) tape_ = tape_of(*graph_, outputs);
  return result;
}

void Verification::goes_by(std::shared_ptr<Entry> entry, Run& run, std::shared_ptr<void> kept) {
  entry_ = std::move(entry);
  run_ = &run;
  kept_ = std::move(kept);
}

void Verification::output_originals(std::vector<graph::RunOutput>& outputs) const {
  for (graph::RunOutput& output : outputs)
    if (auto* tensor = std::get_if<Tensor>(&output)) *tensor = graph_->original(*tensor);
}

/// Tensors that the run made: outputs, and gradients that replace others.
void Verification::note_made(const std::vector<graph::RunOutput>& outputs) {
  const auto note = [&](const Tensor& tensor) {
    if (graph_->original(tensor).get() == tensor.get()) likeness_->made(tensor);
  };
  for (const graph::RunOutput& output : outputs)
    if (auto* tensor = std::get_if<Tensor>(&output)) note(*tensor);
  for (size_t i = 0; i < graph_->copies().size(); i++) {
    const Tensor gradient = autograd::grad(graph_->copies()[i]);
    if (gradient.defined() && gradient.get() != autograd::grad(graph_->inputs()[i]).get()) note(gradient);
  }
}

void Verification::allow_for_rounding(const std::vector<Scalar>& scalars,
                                      const std::vector<graph::RunOutput>& outputs) {
  graph::Rehearsal moved(graph_->inputs());
  moved.shake();
  std::vector<graph::RunOutput> others;
  try {
    if (moved.run(*entry_->graph, scalars, nullptr, others).status != graph::RunStatus::Done) return;
  } catch (const Error&) {  // it doesn't compute from there: nothing is known
    return;
  }
  const auto allow = [&](const Tensor& tensor, const Tensor& other) {
    if (tensor.defined() && other.defined() && tensor->sizes == other->sizes && tensor.dtype() == other.dtype())
      likeness_->allow(tensor.get(), rounding_errors * distance(*tensor, *other));
  };
  double numbers = 0;
  for (size_t i = 0; i < outputs.size(); i++) {
    if (auto* tensor = std::get_if<Tensor>(&outputs[i])) {
      allow(*tensor, std::get<Tensor>(others[i]));
    } else {
      const double apart =
          std::get<terra::Scalar>(outputs[i]).to_double() - std::get<terra::Scalar>(others[i]).to_double();
      numbers = std::max(numbers, std::abs(apart));
    }
  }
  likeness_->allow_numbers(rounding_errors * numbers);
  for (size_t i = 0; i < graph_->copies().size(); i++) {
    const Tensor &copy = graph_->copies()[i], &other = moved.copies()[i];
    allow(copy, other);
    allow(autograd::grad(copy), autograd::grad(other));
  }
  if (!tape_.results.empty()) moved_gradients_ = try_gradients(tape_of(moved, others));
}

/// Results whose gradients the run is prepared for, and inputs that have gradients.
Tape Verification::tape_of(const graph::Rehearsal& rehearsal, const std::vector<graph::RunOutput>& outputs) const {
  Tape tape;
  for (const graph::RunOutput& output : outputs) {
    const auto* tensor = std::get_if<Tensor>(&output);
    if (!tensor || !tensor->defined() || !tensor->requires_grad() || autograd::is_leaf(*tensor)) continue;
    if (rehearsal.original(*tensor).get() == tensor->get() && is_expected(*tensor)) tape.results.push_back(*tensor);
  }
  Tape real;
  for (size_t i = 0; i < rehearsal.copies().size() && !tape.results.empty(); i++) {
    const Tensor &copy = rehearsal.copies()[i], &input = rehearsal.inputs()[i];
    if (!copy.requires_grad() || !input.requires_grad() || rehearsal.versions(i)) continue;
    tape.inputs.push_back(copy);
    real.inputs.push_back(input);
  }
  keep_separate_inputs(real, tape);
  return tape;
}

bool Verification::gradients_alike() {
  Tape real;
  for (const Tensor& result : tape_.results) {
    const TensorImpl* counterpart = likeness_->counterpart(result.get());
    if (!counterpart || !counterpart->requires_grad()) return true;  // the frame has kept it for itself
    real.results.push_back(kept(const_cast<TensorImpl*>(counterpart)));
  }
  for (const Tensor& copy : tape_.inputs) real.inputs.push_back(graph_->original(copy));
  if (real.results.empty() || real.inputs.empty()) return true;
  const auto expected = try_gradients(tape_), got = try_gradients(real);
  if (!expected || !got) return true;
  for (size_t i = 0; i < expected->size(); i++) {
    const Tensor &a = (*expected)[i], &b = (*got)[i];
    if (!a.defined() || !b.defined()) continue;  // where one side has zeros, the other may have nothing
    if (moved_gradients_ && (*moved_gradients_)[i].defined())
      likeness_->allow(a.get(), rounding_errors * distance(*a, *(*moved_gradients_)[i]));
    const auto place = std::find_if(graph_->inputs().begin(), graph_->inputs().end(),
                                    [&](const Tensor& t) { return t.get() == real.inputs[i].get(); });
    const std::string& name = inputs_[static_cast<size_t>(place - graph_->inputs().begin())];
    if (!likeness_->near_elements("the gradient for " + name, *a, *b)) return false;
  }
  return true;
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
  effects_ = std::make_unique<EffectRehearsal>(entry_->entry, entry_->file, *run_, all_registers_ ? all_ : *run_);
  effects_->apply(entry_->effects, *likeness_, wrong_);
}

bool Verification::tensors_alike() {
  for (size_t i = 0; i < graph_->inputs().size(); i++) {
    const std::string& name = inputs_[i];
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
  if (!result && !effects_->is_known()) return std::nullopt;
  if (!result) return Difference{"the call", "a result", exception_text()};
  if (effects_->alike(*likeness_, result) && graph_ && tensors_alike() && !tape_.results.empty()) gradients_alike();
  return likeness_->difference();
}

}  // namespace terra::capture
