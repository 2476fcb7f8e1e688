#include "engine/ops/draws.h"

#include "engine/ops/call.h"
#include "engine/ops/creation.h"
#include "engine/ops/rules.h"
#include "engine/random/draws_apart.h"

namespace terra::ops {

RandomState& state_of(const Arg& generator) {
  return drawing_state(generator.generator() ? *generator.generator() : default_generator());
}

void zero_gradient(Backward& b) { b.set(0, zeros_like(b.grad())); }

OpRecord overwriting(std::string_view name, std::string_view signature, std::string_view doc, std::string_view example,
                     HostRule host, std::string_view sample) {
  return {.name = name,
          .signature = signature,
          .doc = doc,
          .example = example,
          .flags = kHost | kRandom | kDrawsBySizes | kInPlace | kComplex,
          .shape = rules::like_first,
          .host = host,
          .gradient = zero_gradient,
          .samples = {{sample, "float", false}}};
}

}  // namespace terra::ops
