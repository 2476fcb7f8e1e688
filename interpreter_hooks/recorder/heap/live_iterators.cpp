#include "interpreter_hooks/recorder/heap/live_iterators.h"
#include "interpreter_hooks/cpython/instructions.h"
#include "interpreter_hooks/recorder/calls/call_models.h"

#include <algorithm>

namespace terra::capture {

namespace {

void collect(Recording& r, PyObject* object, int levels, std::vector<PyObject*>& found) {
  if (levels <= 0 || std::find(found.begin(), found.end(), object) != found.end()) return;
  Shadow* known = r.peek(object);
  if (!known) return;
  if (is_sequence(object) || is_dict(object) || is_set(object)) {
    found.push_back(object);
    for (const Value& item : known->items) {
      if (item.known()) collect(r, item.object, levels - 1, found);
    }
    for (const Shadow::Entry& entry : known->entries) {
      if (entry.value.known()) collect(r, entry.value.object, levels - 1, found);
    }
  } else if (known->iterator && known->iterator->kind != Iterator::Generator) {
    if (PyObject* base = known->iterator->base) collect(r, base, levels, found);
    for (const Value& child : known->iterator->children) {
      if (child.known()) collect(r, child.object, levels, found);
    }
  }
}

/// The object that the instruction may have changed; null for most.
PyObject* changed_by(const Pending& pending) {
  switch (pending.kind) {
    case TERRA_STORE_SUBSCR:
    case TERRA_STORE_ATTR: return pending.in[1].object;
    case TERRA_DELETE_SUBSCR:
    case TERRA_DELETE_ATTR: return pending.in[0].object;
    case TERRA_BINARY_SUBSCR: return is_default_dict(pending.in[0].object) ? pending.in[0].object : nullptr;
    case TERRA_BINARY_OP: return pending.arg >= TERRA_IN_PLACE ? pending.in[0].object : nullptr;
    case TERRA_CALL:
    case TERRA_CALL_FUNCTION_EX: {
      const CallSite& call = pending.call;
      return (traits_of(call) & kChanges) && !call.positional.empty() ? call.positional[0].object : nullptr;
    }
    default: return nullptr;
  }
}

struct Count {
  PyObject* object;
  Py_ssize_t found;
};
/// A tuple of operands, and the iterator over it, belong to the iterator that has them.
int count_visit(PyObject* object, void* context) {
  auto* count = static_cast<Count*>(context);
  count->found += object == count->object;
  const bool part = PyTuple_CheckExact(object) || Py_TYPE(object) == &PyTupleIter_Type;
  return part && Py_REFCNT(object) == 1 ? Py_TYPE(object)->tp_traverse(object, count_visit, context) : 0;
}

}  // namespace

/// Whether anyone but the recording has the iterator: a name, a frame, an iterator that is alive itself.
bool LiveIterators::is_alive(Recording& r, PyObject* iterator, int depth) const {
  Py_ssize_t others = Py_REFCNT(iterator) - r.times_held(iterator);
  const auto above = outer_.find(iterator);
  if (above == outer_.end()) return others > 0;
  for (PyObject* outer : above->second) {
    if (others <= 0 || depth > 4) break;
    if (outer == iterator || is_alive(r, outer, depth + 1)) continue;
    Count count = {iterator, 0};
    if (Py_TYPE(outer)->tp_traverse) Py_TYPE(outer)->tp_traverse(outer, count_visit, &count);
    others -= count.found;
  }
  return others > 0;
}

void LiveIterators::begin(Recording& r, PyObject* iterator, const std::vector<Value>& operands, int levels) {
  Walk& walk = live_iterators_[iterator];
  walk.levels = levels;
  for (const Value& operand : operands) {
    if (operand.known()) collect(r, operand.object, levels, walk.containers);
  }
}

void LiveIterators::comes_to(Recording& r, PyObject* iterator, const Value& value) {
  auto found = live_iterators_.find(iterator);
  if (found == live_iterators_.end()) return;
  Shadow* known = r.peek(value.object);
  const int above = known && known->iterator ? 0 : 1;
  collect(r, value.object, found->second.levels - above, found->second.containers);
}

bool LiveIterators::disturbed(Recording& r, const ShadowFrame& f) {
  if (live_iterators_.empty()) return false;
  PyObject* changed = changed_by(f.pending);
  if (!changed) return false;
  const auto is_it = [&](PyObject* container) {
    if (container == changed) return true;
    Shadow* known = is_dict(container) ? r.peek(container) : nullptr;
    return known && known->attributes_of == changed;
  };
  const auto is_below = [&](const auto& walk) {
    const auto& containers = walk.second.containers;
    return std::any_of(containers.begin(), containers.end(), is_it);
  };
  std::erase_if(live_iterators_, [&](const auto& walk) { return is_below(walk) && !is_alive(r, walk.first); });
  return std::any_of(live_iterators_.begin(), live_iterators_.end(), is_below);
}

}  // namespace terra::capture
