// Guards on what the effects will drop: code that runs when it goes would run at another moment than in the program.
#include "interpreter_hooks/guards/container_kinds.h"
#include "interpreter_hooks/recorder/calls/call_models.h"
#include "interpreter_hooks/recorder/finish/finisher.h"

#include <algorithm>

namespace terra::capture {

namespace {

bool is_full_or_may_be(PyObject* target) { return is_deque(target) && max_length_of(target) >= 0; }

}  // namespace

/// What the writes to one list, tuple or deque do to the places of its items.
struct Finisher::Moves {
  int writes = 0;
  Py_ssize_t front = 0, back = 0;  ///< items that go there, one by one
  bool ends_only = true;           ///< nothing but that, and items that come there
  bool stores_only = true;         ///< no item moves

  void note(const Write& write) {
    writes++;
    if (write.effect == Effect::SetItem && !PySlice_Check(write.name)) {
      ends_only = false;
      return;
    }
    stores_only = false;
    const uint32_t traits = write.effect == Effect::Append       ? kAtBack | kKeeps
                            : write.effect == Effect::CallMethod ? traits_of(write.name)
                                                                 : uint32_t{kNothing};
    const bool at_back = traits & kAtBack, at_front = traits & kAtFront, keeps = traits & kKeeps;
    const bool one_item = keeps || write.arguments.size() == 1;  // l.pop(2) is none of the last
    if (keeps && (at_back || at_front))                          // a full deque loses an item at its other end
      (at_back ? front : back) += is_full_or_may_be(write.target.object);
    else if (one_item && (at_back || at_front))
      ++(at_back ? back : front);
    else
      ends_only = false;
  }
};

void Finisher::guard_quiet(Op op, const Write& write, std::vector<Word> operands, Register b) {
  const Register a = r_.reg_of(write.target);
  if (b != no_register && r_.late(b)) late_quiet_ = b;
  if (quiet_.insert({op, a, b, op == Op::QuietAttribute ? write.name : nullptr}).second)
    r_.guard(op, a, std::move(operands), b);
}

void Finisher::keep_item_quiet(const Write& write, Py_ssize_t place) {
  guard_quiet(Op::QuietItem, write, {0}, constant_register(r_.hold_new(PyLong_FromSsize_t(place))));
}

/// Of a list, tuple or deque. Places are those before the first write: where others move items, any may go.
void Finisher::keep_items_quiet(const Write& write, const Moves& moves) {
  const bool drops =
      write.effect != Effect::Append && (write.effect != Effect::CallMethod || is_full_or_may_be(write.target.object) ||
                                         !(traits_of(write.name) & kKeeps));
  if (moves.ends_only) {
    for (Py_ssize_t place = 0; place < moves.front; place++) keep_item_quiet(write, place);
    for (Py_ssize_t place = 1; place <= moves.back; place++) keep_item_quiet(write, -place);
  } else if (write.effect != Effect::CallMethod && (moves.stores_only || moves.writes == 1)) {
    guard_quiet(Op::QuietItem, write, {0}, key_register(write));
  } else if (drops) {
    guard_quiet(Op::QuietItems, write, {}, no_register);
  }
}

Register Finisher::key_register(const Write& write) {
  return write.key.known() ? r_.reg_of(write.key) : constant_register(write.name);
}

/// Of the object as it is now, which need not be the one that leaves the frame (Recording::leaving_as).
Register Finisher::constant_register(PyObject* object) {
  const auto [place, is_new] = constants_.try_emplace(object, no_register);
  if (is_new) place->second = r_.file().constant(object);
  return place->second;
}

/// The value goes, and from a deletion the key with it.
void Finisher::keep_value_quiet(const Write& write) {
  const Shadow* key = write.key.known() ? r_.peek(write.key.object) : nullptr;
  const bool in_run = !write.key.known() || write.key.has_register() || write.key.is_fact() || (key && key->outside);
  if (in_run)
    guard_quiet(Op::QuietItem, write, {write.effect == Effect::DeleteItem}, key_register(write));
  else if (is_value_key(write.key.object))  // made inside: what is there is under a key like it
    guard_quiet(Op::QuietItems, write, {}, no_register);
}

/// Of what is in the place that a write is about.
void Finisher::keep_quiet(const Write& write, const std::map<PyObject*, Moves>& moves) {
  PyObject* target = write.target.object;
  if (const auto moved = moves.find(target); moved != moves.end()) return keep_items_quiet(write, moved->second);
  switch (write.effect) {
    case Effect::SetAttribute:
    case Effect::SetPlainAttribute:
    case Effect::DeleteAttribute:
      if (is_tensor(target)) return;
      return guard_quiet(Op::QuietAttribute, write, {word_of(r_.file().keep(write.name))}, no_register);
    case Effect::SetItem:
    case Effect::DeleteItem: return keep_value_quiet(write);
    case Effect::SetCell: return guard_quiet(Op::QuietItems, write, {}, no_register);
    case Effect::CallMethod:
      if ((is_dict(target) || is_set(target)) && !(traits_of(write.name) & kKeeps))
        guard_quiet(Op::QuietItems, write, {}, no_register);
      return;
    default: return;
  }
}

/// Of what the frame's slots held where it went on in the middle, and neither they nor the result hold any longer. The
/// caller keeps the arguments of a frame that begins; these are the frame's own.
void Finisher::keep_slots_quiet(const ShadowFrame& root) {
  std::set<PyObject*> held = {r_.result_.object};
  for (const Value& value : root.locals) held.insert(value.object);
  for (const Value& value : root.stack) held.insert(value.object);
  const std::vector<Value>& before = r_.cuts_.arguments;
  for (size_t slot = 0; slot < before.size() && r_.alive(); slot++) {
    if (!before[slot].object || held.contains(before[slot].object)) continue;
    quiet_.insert({Op::QuietArgument, static_cast<Register>(slot), no_register, nullptr});
    r_.guard(Op::QuietArgument, no_register, {static_cast<Word>(slot)});
  }
}

void Finisher::keep_departures_quiet() {
  const auto counts = [](const Write& write) { return !write.drops_number && write.target.object != Py_None; };
  std::map<PyObject*, Moves> moves;
  for (const Write& write : r_.writes_) {
    if (write.target.object && is_sequence(write.target.object)) moves[write.target.object].note(write);
  }
  for (const Write& write : r_.writes_) {
    if (r_.alive() && counts(write)) keep_quiet(write, moves);
  }
  if (r_.in_the_middle()) keep_slots_quiet(r_.root());
  if (quiet_.size() > 1) r_.guard(Op::QuietTogether, no_register, {}, late_quiet_);
}

}  // namespace terra::capture
