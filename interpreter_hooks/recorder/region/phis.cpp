#include "interpreter_hooks/recorder/region/phis.h"

#include "interpreter_hooks/guards/guard_dependencies.h"
#include "interpreter_hooks/guards/tensors.h"
#include "interpreter_hooks/guards/text.h"
#include "interpreter_hooks/recorder/trace/builder.h"

#include <algorithm>
#include <utility>

namespace terra::capture {

namespace {

constexpr size_t most_variables = 0x8000;

bool is_plain(PyObject* object) {
  return PyFloat_CheckExact(object) || PyLong_CheckExact(object) || PyBool_Check(object) ||
         PyUnicode_CheckExact(object);
}

}  // namespace

bool Phis::may_differ(const Value& value) const {
  if (!value.known() || !is_plain(value.object)) return false;
  return value.is_fact() || (value.has_register() && !r_.late(value.reg) && !r_.trace().sizes().follow(value));
}

/// The instruction that every frame is at.
uint64_t Phis::here() const {
  uint64_t key = 0;
  for (const ShadowFrame* f : r_.frames_) {
    const std::string place = utf8_of(f->code->co_filename) + ":" + std::to_string(f->code->co_firstlineno) + "+" +
                              std::to_string(f->pending.offset);
    key = key * 0x9E3779B97F4A7C15 + std::hash<std::string>()(place);
  }
  return key;
}

bool Phis::is_alive(const ShadowFrame& f, size_t local) {
  const auto [found, is_new] = alive_.try_emplace(f.code, f);
  return !f.pending.is_open() || found->second.behind(f.pending.offset, local);
}

/// In the same event, or, where Python code has run below an instruction meanwhile, in the same instruction: perhaps
/// not the same time, should it be in a loop.
bool Phis::asked_before() {
  bool before = std::exchange(last_, r_.events_) == r_.events_;
  for (const ShadowFrame* f : r_.frames_) {
    const bool calls = f != r_.top() || !f->pending.returns.empty();
    const auto asked = asked_.find(f);
    before = before || (calls && asked != asked_.end() && asked->second == f->pending.offset);
  }
  asked_[r_.top()] = r_.top()->pending.offset;
  return before;
}

bool Phis::at_branch() {
  place_ = here();
  ShadowFrame& root = r_.root();
  for (size_t k = 0; k < root.locals.size(); k++) {  // or else paths would part over who has asked for arguments so far
    if (is_alive(root, k)) r_.local(root, static_cast<int>(k));
  }
  const bool first = !asked_before();
  const ShadowFrame& top = *r_.top();
  too_late_ = !first || top.real_depth() == static_cast<int>(top.stack.size());
  if (too_late_ || r_.speculation().chosen().empty()) return first;
  const auto chosen = r_.speculation().chosen();  // it changes where a value can't be chosen after all
  for (const auto& [what, path] : chosen)
    if (what.place == place_ && !path.empty()) choose_stored(path, what);
  for (size_t i = 0; i < r_.frames_.size(); i++) {
    ShadowFrame& f = *r_.frames_[i];
    for (size_t k = 0; k < f.locals.size() && k < most_variables; k++) choose(f.locals[k], {place_, slot(i, k, false)});
    for (size_t k = 0; k < f.stack.size() && k < most_variables; k++) choose(f.stack[k], {place_, slot(i, k, true)});
  }
  return first;
}

void Phis::choose(Value& value, PhiSlot what) {
  if (!r_.speculation().is_chosen(what) || !may_differ(value) || is_chosen(value) || !r_.alive()) return;
  Program& entry = r_.entry_being_made().entry;
  const Register source = r_.reg_of(value), reg = r_.new_register("", true, false);
  places_.back().sums.push_back(entry.end());
  sums_.insert(entry.end());
  entry.emit(Op::Copy, reg, source, no_register);
  value_numbers_[reg] = {what};
  value = Value::dynamic(reg, value.object);
}

// ---- attributes ----

bool Phis::is_plain_store(const Write& write) const {
  const bool attribute = write.effect == Effect::SetAttribute || write.effect == Effect::SetPlainAttribute;
  return attribute && write.replaces && !PyType_Check(write.target.object) && may_differ(write.value);
}

Write* Phis::store_to(const std::string& path) {
  for (auto write = r_.writes_.rbegin(); write != r_.writes_.rend(); ++write)
    if (write->path == path) return &*write;
  return nullptr;
}

/// What another path has stored to this one stores as well: what is there already. False: that can't be done.
bool Phis::store_again(const std::string& path) {
  const size_t dot = path.find_last_of('.');
  const auto owner = std::find_if(r_.shadows_.begin(), r_.shadows_.end(), [&](const auto& each) {
    return each.second.outside && each.second.path == path.substr(0, dot) && each.second.self.has_register();
  });
  if (owner == r_.shadows_.end() || PyType_Check(owner->first) || is_tensor(owner->first)) return false;
  Value self = owner->second.self;
  PyObject* name = PyUnicode_FromString(path.c_str() + dot + 1);
  PyUnicode_InternInPlace(&name);
  r_.hold_new(name);
  PyObject* found = nullptr;
  if (r_.access_of(self, name, &found) != Access::Instance || !r_.can_store_attribute(self.object, name)) return false;
  PyObject* const there = terra_instance_attribute(self.object, name);
  if (!there || !is_plain(there)) return false;
  r_.guard_type(self.object);
  r_.look_up(Py_TYPE(self.object), name);
  const Value value = r_.instance_attribute(self, name, there);
  if (r_.alive() && may_differ(value)) r_.store_attribute(self, name, value);
  return r_.alive() && store_to(path);
}

void Phis::choose_stored(const std::string& path, PhiSlot what) {
  if (!store_to(path) && !store_again(path)) return;
  Write* const write = store_to(path);
  Value& now = r_.shadow(write->target).attributes[write->name];
  if (!is_plain_store(*write) || now.kind != write->value.kind || now.reg != write->value.reg) return;  // gone since
  choose(write->value, what);
  now = write->value;
}

// ---- what other paths ask ----

void Phis::noted(ProgramState* state) {
  Place& place = places_.back();
  place.at = place_;
  if (state && state->formed) {
    place.forgets = state->forgets;
    place.chosen = std::move(state->chosen);
    if (too_late_) return void(places_.emplace_back());
    place.form = state->form;
    place.held = std::move(state->held);
  }
  places_.emplace_back();
}

void Phis::computed(Register result, int offset, const std::vector<Value>& in) {
  std::set<PhiSlot> all;
  for (const Value& value : in)
    if (is_chosen(value)) all.insert(value_numbers_[value.reg].begin(), value_numbers_[value.reg].end());
  value_numbers_[result] = std::move(all);
  places_.back().sums.push_back(offset);
  sums_.insert(offset);
}

bool Phis::refuse(Register reg) {
  const auto found = value_numbers_.find(reg);
  if (found == value_numbers_.end()) return false;
  for (const PhiSlot& choice : found->second) r_.speculation().settle(choice);
  r_.record_again();
  r_.stop(Reason::OverwrittenFact, "a value that depends on a branch decides something");
  return true;
}

void Phis::finish(Entry& entry) {
  if (!value_numbers_.empty()) {
    int offset = 0;
    entry.entry.each([&](const Word* at) {
      if (!sums_.count(offset)) each_operand(at, [&](Register reg) { refuse(reg); });
      offset += head(at).words;
    });
  }
  entry.places = std::move(places_);
}

}  // namespace terra::capture
