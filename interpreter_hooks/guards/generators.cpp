// Generators and iterators from outside that nobody has used yet: what they were made of.
#include "interpreter_hooks/cpython/code.h"
#include "interpreter_hooks/guards/functions.h"
#include "interpreter_hooks/guards/text.h"

namespace terra::capture {

bool generator_part_holds(Word* at, Run& run) {
  TerraFrame* frame = terra_generator_frame(a_of(at, run));
  if (at[1] == 0) return store(at, run, reinterpret_cast<PyObject*>(terra_frame_function(frame)));
  return store(at, run, terra_frame_localsplus(frame)[at[1] - 1]);
}

bool iterator_base_holds(Word* at, Run& run) { return store(at, run, terra_iterator_start(a_of(at, run))); }
std::string iterator_base_text(const Word* at, const RegisterFile& file) {
  return name_a(at, file) + " is at its start";
}

bool unstarted_holds(Word* at, Run& run) {
  PyObject* generator = a_of(at, run);
  return terra_generator_is_unstarted(generator) &&
         reinterpret_cast<PyObject*>(terra_frame_code(terra_generator_frame(generator))) == object_word(at[1]);
}
std::string unstarted_text(const Word* at, const RegisterFile& file) {
  auto* code = reinterpret_cast<PyCodeObject*>(object_word(at[1]));
  return name_a(at, file) + " is a generator of " + utf8_of(code->co_qualname) + " that has not started";
}

bool range_start_holds(Word* at, Run& run) {
  long numbers[3];
  if (!terra_range_start(a_of(at, run), numbers)) return false;
  for (int i = 0; i < 3; i++) {
    if (numbers[i] != static_cast<long>(at[1 + i])) return false;
  }
  return true;
}
std::string range_start_text(const Word* at, const RegisterFile& file) {
  return name_a(at, file) + " is at the start of a range of " + std::to_string(at[3]) + " numbers from " +
         std::to_string(static_cast<long>(at[1]));
}

}  // namespace terra::capture
