#include "interpreter_hooks/guards/kinds.h"

#include "interpreter_hooks/guards/functions.h"

#include <cstring>

namespace terra::capture {

#define ROW(guard, name) \
  { #name, guard, name##_holds, name##_text }

// In the order of Op. A read can fail too (an attribute that is gone), which is a miss like any other.
// clang-format off
const Kind kinds[static_cast<size_t>(Op::Count_)] = {
    ROW(false, argument),
    ROW(false, function),
    ROW(false, closure),
    ROW(true, cell),
    ROW(true, item),
    ROW(true, key),
    ROW(true, attribute),
    ROW(true, slot),
    ROW(true, class_attribute),
    ROW(true, instance_dict),
    ROW(false, method_part),
    ROW(false, partial_part),
    ROW(false, module_part),
    ROW(true, cached_result),
    ROW(true, key_of),
    ROW(true, item_of),
    ROW(true, key_at),
    ROW(false, generator_part),
    ROW(true, iterator_base),
    ROW(true, gradient),
    ROW(false, version),
    ROW(false, size_of),
    ROW(true, is),
    ROW(true, equal),
    ROW(true, pinned),
    ROW(true, type),
    ROW(true, type_of),
    ROW(true, class_facts),
    ROW(true, length),
    ROW(true, max_length),
    ROW(true, keys),
    ROW(true, size),
    ROW(true, contains),
    ROW(true, no_key),
    ROW(true, no_attribute),
    ROW(true, no_argument),
    ROW(true, code),
    ROW(true, globals),
    ROW(true, same),
    ROW(true, distinct),
    ROW(true, all_distinct),
    ROW(true, own_dicts),
    ROW(true, quiet_attribute),
    ROW(true, quiet_item),
    ROW(true, quiet_items),
    ROW(true, quiet_argument),
    ROW(true, quiet_together),
    ROW(true, truth),
    ROW(true, tensor),
    ROW(true, offset),
    ROW(true, no_gradient),
    ROW(true, same_storage),
    ROW(true, apart),
    ROW(true, own_history),
    ROW(true, c_method),
    ROW(true, unstarted),
    ROW(true, range_start),
    ROW(true, no_hooks),
    ROW(true, mode),
    ROW(false, binary),
    ROW(false, compare),
    ROW(false, unary),
    ROW(false, call),
    ROW(false, format),
    ROW(false, tuple),
    ROW(false, copy),
    ROW(false, draw),
};
// clang-format on

std::vector<Word> pack(const std::vector<Register>& registers) {
  std::vector<Word> words;
  for (std::size_t first = 0; first < registers.size(); first += registers_per_word) {
    Register filled[registers_per_word];
    for (std::size_t place = 0; place < registers_per_word; ++place)
      filled[place] = first + place < registers.size() ? registers[first + place] : no_register;
    words.emplace_back();
    std::memcpy(&words.back(), filled, sizeof filled);
  }
  return words;
}

std::vector<Word> call_operands(RegisterFile& file, PyObject* callee, const std::vector<Register>& given) {
  std::vector<Word> words = pack(given);
  words.insert(words.begin(), word_of(file.keep(callee)));
  return words;
}

}  // namespace terra::capture
