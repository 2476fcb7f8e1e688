#include "interpreter_hooks/coexec/code_loops.h"

#include <algorithm>

#include "interpreter_hooks/cpython/instructions.h"

namespace terra::coexec {

CodeLoops::OfCode& CodeLoops::of(PyCodeObject* code) {
  const auto [known, is_new] = codes_.try_emplace(code);
  OfCode& made = known->second;
  if (!is_new) return made;
  made.code = hooks::Object::share(reinterpret_cast<PyObject*>(code));
  const TerraInstruction* instructions = terra_instructions(code);
  for (int at = 0; instructions && at < terra_code_units(code); at++) {
    const TerraInstruction& jump = instructions[at];
    if (jump.kind == TERRA_NOTHING || jump.target < 0 || jump.target > jump.at) continue;
    const auto same = std::find_if(made.loops.begin(), made.loops.end(),
                                   [&jump](const Loop& loop) { return loop.begin == jump.target; });
    if (same == made.loops.end())
      made.loops.push_back({jump.target, jump.at, 0});
    else
      same->end = std::max(same->end, jump.at);
  }
  std::sort(made.loops.begin(), made.loops.end(),
            [](const Loop& a, const Loop& b) { return a.begin != b.begin ? a.begin < b.begin : a.end > b.end; });
  for (Loop& loop : made.loops) {
    loop.id = static_cast<LoopId>(begins_.size());
    begins_.emplace_back(code, loop.begin);
  }
  return made;
}

std::span<const LoopId> CodeLoops::around(PyCodeObject* code, int instruction) {
  OfCode& known = of(code);
  const auto [place, is_new] = known.around.try_emplace(instruction);
  if (is_new) {
    for (const Loop& loop : known.loops)
      if (loop.begin <= instruction && instruction <= loop.end) place->second.push_back(loop.id);
  }
  return place->second;
}

SourceLine CodeLoops::place_of(LoopId loop) const {
  const auto& [code, begin] = begins_[loop];
  return source_line(code, begin);
}

SourceLine source_line(PyCodeObject* code, int instruction) {
  const char* file = PyUnicode_AsUTF8(code->co_filename);
  if (!file) PyErr_Clear();
  return {file ? file : "", terra_code_line(code, instruction)};
}

}  // namespace terra::coexec
