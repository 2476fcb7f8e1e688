// The functions behind the table of kinds, by the file that defines them. Included by those files and the table only.
#pragma once
#include "interpreter_hooks/guards/kinds.h"

namespace terra::capture {

#define TERRA_KIND_FUNCTIONS(name)       \
  bool name##_holds(Word* at, Run& run); \
  std::string name##_text(const Word* at, const RegisterFile& file);

// reads.cpp
TERRA_KIND_FUNCTIONS(argument)
TERRA_KIND_FUNCTIONS(function)
TERRA_KIND_FUNCTIONS(closure)
TERRA_KIND_FUNCTIONS(cell)
TERRA_KIND_FUNCTIONS(item)
TERRA_KIND_FUNCTIONS(key)
TERRA_KIND_FUNCTIONS(attribute)
TERRA_KIND_FUNCTIONS(slot)
TERRA_KIND_FUNCTIONS(class_attribute)
TERRA_KIND_FUNCTIONS(instance_dict)
TERRA_KIND_FUNCTIONS(method_part)
TERRA_KIND_FUNCTIONS(partial_part)
TERRA_KIND_FUNCTIONS(module_part)
TERRA_KIND_FUNCTIONS(cached_result)
TERRA_KIND_FUNCTIONS(key_of)
TERRA_KIND_FUNCTIONS(item_of)
TERRA_KIND_FUNCTIONS(key_at)
// checks.cpp
/// The text of a guard on a list of registers: `text`, and their names.
std::string listed(std::string text, const Word* at, const RegisterFile& file);
TERRA_KIND_FUNCTIONS(is)
TERRA_KIND_FUNCTIONS(equal)
TERRA_KIND_FUNCTIONS(pinned)
TERRA_KIND_FUNCTIONS(type)
TERRA_KIND_FUNCTIONS(type_of)
TERRA_KIND_FUNCTIONS(class_facts)
TERRA_KIND_FUNCTIONS(length)
TERRA_KIND_FUNCTIONS(max_length)
TERRA_KIND_FUNCTIONS(keys)
TERRA_KIND_FUNCTIONS(size)
TERRA_KIND_FUNCTIONS(contains)
TERRA_KIND_FUNCTIONS(no_key)
TERRA_KIND_FUNCTIONS(no_attribute)
TERRA_KIND_FUNCTIONS(no_argument)
TERRA_KIND_FUNCTIONS(code)
TERRA_KIND_FUNCTIONS(globals)
TERRA_KIND_FUNCTIONS(same)
TERRA_KIND_FUNCTIONS(distinct)
TERRA_KIND_FUNCTIONS(all_distinct)
TERRA_KIND_FUNCTIONS(truth)
TERRA_KIND_FUNCTIONS(no_hooks)
// generators.cpp
TERRA_KIND_FUNCTIONS(generator_part)
TERRA_KIND_FUNCTIONS(iterator_base)
TERRA_KIND_FUNCTIONS(c_method)
TERRA_KIND_FUNCTIONS(unstarted)
TERRA_KIND_FUNCTIONS(range_start)
// own_dicts.cpp
TERRA_KIND_FUNCTIONS(own_dicts)
// departures.cpp
TERRA_KIND_FUNCTIONS(quiet_attribute)
TERRA_KIND_FUNCTIONS(quiet_item)
TERRA_KIND_FUNCTIONS(quiet_items)
TERRA_KIND_FUNCTIONS(quiet_argument)
TERRA_KIND_FUNCTIONS(quiet_together)
// tensors.cpp
TERRA_KIND_FUNCTIONS(tensor)
TERRA_KIND_FUNCTIONS(gradient)
TERRA_KIND_FUNCTIONS(version)
TERRA_KIND_FUNCTIONS(size_of)
TERRA_KIND_FUNCTIONS(offset)
TERRA_KIND_FUNCTIONS(no_gradient)
TERRA_KIND_FUNCTIONS(same_storage)
TERRA_KIND_FUNCTIONS(apart)
TERRA_KIND_FUNCTIONS(own_history)
TERRA_KIND_FUNCTIONS(mode)
// host.cpp
TERRA_KIND_FUNCTIONS(binary)
TERRA_KIND_FUNCTIONS(compare)
TERRA_KIND_FUNCTIONS(unary)
TERRA_KIND_FUNCTIONS(call)
TERRA_KIND_FUNCTIONS(format)
TERRA_KIND_FUNCTIONS(tuple)
TERRA_KIND_FUNCTIONS(copy)
// random.cpp
TERRA_KIND_FUNCTIONS(draw)

#undef TERRA_KIND_FUNCTIONS

inline PyObject* a_of(const Word* at, const Run& run) { return run.registers[head(at).a]; }
inline PyObject* b_of(const Word* at, const Run& run) { return run.registers[head(at).b]; }
/// Stores what a read found; false when there is nothing.
inline bool found(const Word* at, Run& run, PyObject* object) {
  run.registers[head(at).dst] = object;
  return object != nullptr;
}

}  // namespace terra::capture
