#include "interpreter_hooks/recorder/region/value_numbers.h"

#include "interpreter_hooks/guards/scalars.h"
#include "interpreter_hooks/recorder/core/recording.h"
#include "interpreter_hooks/recorder/trace/builder.h"

namespace terra::capture {

namespace {

uint64_t joined(uint64_t a, uint64_t b) { return ((a ^ b) * 0x9E3779B97F4A7C15 + (a >> 29)) | 1; }

/// Numbers and strings by their value, others by address.
uint64_t word_for(PyObject* object) {
  const bool by_value = is_atom(object) || (is_value_tuple(object) && is_value_key(object));
  if (!by_value || PySlice_Check(object) || is_hashed_in_python(object)) return reinterpret_cast<uintptr_t>(object);
  const Py_hash_t hash = PyObject_Hash(object);
  PyErr_Clear();
  return joined(static_cast<uint64_t>(hash), reinterpret_cast<uintptr_t>(Py_TYPE(object)));
}

}  // namespace

uint64_t ValueNumbers::constant(Register reg) const {
  return joined(1, word_for(r_.file().constants()[static_cast<size_t>(-1 - reg)]));
}

uint64_t ValueNumbers::made_by(const Word* at) const {
  const Op op = static_cast<Op>(head(at).kind);
  uint64_t word = joined(2, static_cast<uint64_t>(op));
  bool known = true, any = false;
  each_operand(at, [&](Register operand) {
    const uint64_t origin = found(operand);
    known = known && origin;
    any = true;
    word = joined(word, origin);
  });
  switch (op) {
    case Op::Draw: return 0;
    case Op::Call:
      if (!any) return 0;  // a clock
      return known ? joined(word, at[1]) : 0;
    case Op::Key:
    case Op::CachedResult:
    case Op::Attribute: word = joined(word, word_for(object_word(at[1]))); break;
    case Op::ClassAttribute: word = joined(joined(word, at[1]), word_for(object_word(at[2]))); break;
    case Op::Tuple: break;
    default:
      if (head(at).words > 1) word = joined(word, at[1]);
  }
  return known ? word : 0;
}

/// Of a register that instructions looked at so far have made.
uint64_t ValueNumbers::found(Register reg) const {
  if (reg < 0) return constant(reg);
  const auto [tensor, dim] = r_.trace().sizes().size_of(reg);  // there may be no instruction for it
  if (tensor != no_register) {
    const uint64_t origin = found(tensor);
    return origin ? joined(joined(3, origin), static_cast<uint64_t>(dim)) : 0;
  }
  return static_cast<size_t>(reg) < known_.size() ? known_[static_cast<size_t>(reg)] : 0;
}

uint64_t ValueNumbers::of(Register reg) {
  const Program& entry = r_.entry_being_made().entry;
  for (; looked_at_ < entry.end(); looked_at_ += head(entry.at(looked_at_)).words) {
    const Word* at = entry.at(looked_at_);
    const Register made = head(at).dst;
    if (made == no_register) continue;
    if (known_.size() <= static_cast<size_t>(made)) known_.resize(static_cast<size_t>(made) + 1);
    known_[static_cast<size_t>(made)] = made_by(at);
  }
  return found(reg);
}

}  // namespace terra::capture
