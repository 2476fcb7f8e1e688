#include "engine/random/draws_apart.h"

#include <algorithm>
#include <utility>

namespace terra {
namespace {

thread_local DrawsApart* current = nullptr;

}  // namespace

DrawsApart::DrawsApart(std::span<Generator* const> generators) {
  for (Generator* g : generators) {
    Generator& real = g ? *g : default_generator();
    copies_.push_back({&real, real.state(), real.state()});
  }
}

bool DrawsApart::settle() {
  for (const Copy& c : copies_)
    if (!(c.generator->state() == c.before)) return false;
  for (const Copy& c : copies_) c.generator->set_state(c.state);
  return true;
}

DrawsApart::Scope::Scope(DrawsApart& draws) : outer_(std::exchange(current, &draws)) {}
DrawsApart::Scope::~Scope() { current = outer_; }

RandomState& drawing_state(Generator& generator) {
  if (current) [[unlikely]] {
    for (DrawsApart::Copy& c : current->copies_)
      if (c.generator == &generator) return c.state;
  }
  return generator.state();
}

}  // namespace terra
