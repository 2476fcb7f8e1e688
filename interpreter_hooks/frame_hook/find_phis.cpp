#include "interpreter_hooks/frame_hook/find_phis.h"

#include "interpreter_hooks/guards/scalars.h"

#include <algorithm>
#include <map>
#include <string>

namespace terra::capture {

namespace {

/// No call fits both: what one expects of something, the other doesn't.
bool contradict(const Entry& a, const Entry& b) {
  const auto facts = [](const Entry& entry, auto visit) {
    entry.entry.each([&](const Word* at) {
      const Op op = static_cast<Op>(head(at).kind);
      if ((op == Op::Equal || op == Op::Is || op == Op::Type) && head(at).a >= 0)
        if (const std::string name = entry.file.name(head(at).a); name.front() != '%')
          visit(name, op, object_word(at[1]));
    });
  };
  std::map<std::pair<std::string, Op>, PyObject*> known;
  facts(a, [&](const std::string& name, Op op, PyObject* object) { known[{name, op}] = object; });
  bool found = false;
  facts(b, [&](const std::string& name, Op op, PyObject* object) {
    const auto other = known.find({name, op});
    found = found || (other != known.end() && !same_value(other->second, object));
  });
  return found;
}

bool can_meet(const Entry& a, const Entry& b) {
  if (a.file.stale() || b.file.stale()) return false;  // objects that they name are gone
  if (!a.can_meet() || !b.can_meet() || !a.places[0].form) return false;
  return a.places[0].form == b.places[0].form && !contradict(a, b);
}

bool part_before(const Entry& a, const Entry& b, size_t place) {
  for (size_t d = 0; d < place && d < a.branches.size() && d < b.branches.size(); d++)
    if (a.branches[d].expected != b.branches[d].expected) return true;
  return false;
}

const Place::Held* held_in(const Place& place, uint32_t slot) {
  const auto found =
      std::find_if(place.held.begin(), place.held.end(), [&](const Place::Held& held) { return held.slot == slot; });
  return found == place.held.end() ? nullptr : &*found;
}

/// Chooses what differs where one path has come to `here` and the other to `there`, which are alike.
bool choose(const Place& here, const Place& there, Speculation& speculation) {
  bool any = false;
  for (const auto& [one, other] : {std::pair(&here, &there), std::pair(&there, &here)}) {
    for (const Place::Held& held : one->held) {
      const Place::Held* const same = held_in(*other, held.slot);
      const bool differs = !same || !held.value || held.value != same->value;
      any = (differs && speculation.choose({here.at, held.slot}, held.path)) || any;
    }
  }
  return any;
}

}  // namespace

bool find_differences(const Entry& made, const std::vector<std::shared_ptr<Entry>>& entries, Speculation& speculation) {
  bool any = false;
  for (const auto& entry : entries) {
    if (entry.get() == &made || !can_meet(made, *entry)) continue;
    for (size_t d = 0; d + 1 < std::min(made.places.size(), entry->places.size()); d++) {
      const Place &here = made.places[d], &there = entry->places[d];
      if (!here.form || here.form != there.form || here.at != there.at) continue;
      // Before the first branch all paths hold the same, but sums are told from one another by the way only.
      if (d == 0 || part_before(made, *entry, d)) any = choose(here, there, speculation) || any;
    }
  }
  return any;
}

bool knows_choices(const Entry& entry, const Speculation& speculation) {
  return std::any_of(entry.places.begin(), entry.places.end(), [&](const Place& place) {
    return std::any_of(place.held.begin(), place.held.end(), [&](const Place::Held& held) {
      return speculation.is_chosen({place.at, held.slot});
    });
  });
}

}  // namespace terra::capture
