#include "graph/cache/halves.h"

#include <algorithm>

#include "engine/errors/errors.h"
#include "graph/cache/pair.h"
#include "graph/cache/pair_batch.h"
#include "graph/gradient/undefined.h"
#include "graph/passes/pipeline.h"

namespace terra::graph {
namespace {

/// By tensor that it reads.
std::vector<bool> made_by_forward(const std::vector<uint32_t>& saved, const std::vector<SavedValue>& values) {
  std::vector<bool> made;
  for (uint32_t number : saved) {
    const SavedValue::Kind kind = values[number].kind;
    if (kind == SavedValue::Kind::Input || kind == SavedValue::Kind::Fresh)
      made.push_back(kind == SavedValue::Kind::Fresh);
  }
  return made;
}
Program optimized(Program program) {
  optimize(program.graph, Phase::Part);
  return program;
}

std::unique_ptr<Halves> cut(Program joint) {
  const std::vector<ProgramPart> parts = joint.parts;
  auto halves = std::make_unique<Halves>(partition(std::move(joint)), parts.size());
  for (size_t p = 0; p < parts.size(); ++p)
    for (const InputBinding& in : halves->backward[p].runner.program().inputs)
      ensure(in.kind != InputBinding::Kind::Tangent ||
                 std::find(parts[p].roots.begin(), parts[p].roots.end(), in.index) != parts[p].roots.end(),
             "the gradients of one part wait for those of another");
  return halves;
}

/// By part: of the edges along which the addends of each target's gradient go, the first; and the end of all.
std::vector<std::vector<uint32_t>> edges_of(const Program& joint) {
  std::vector<std::vector<uint32_t>> all;
  for (const ProgramPart& part : joint.parts) all.emplace_back(part.targets.size() + 1, 0);
  for (const Program::Gradient& g : joint.gradients) ++all[g.part][g.target + 1];
  for (std::vector<uint32_t>& first : all)
    for (size_t j = 1; j < first.size(); ++j) first[j] = first[j - 1] + std::max(first[j], 1u);
  return all;
}

}  // namespace

Halves::Backward::Backward(std::vector<uint32_t> s, Program p, const std::vector<SavedValue>& values)
    : saved(std::move(s)),
      program(std::move(p)),
      batch(std::make_unique<PairBatch>(program)),
      runner(optimized(program), made_by_forward(saved, values)),
      consumable_(made_by_forward(saved, values)) {}

Halves::Backward::~Backward() = default;

Runner& Halves::Backward::where_given(const std::vector<uint32_t>& roots) {
  std::unique_ptr<Runner>& made = partly_[roots];
  if (!made) {
    std::vector<bool> undefined;
    for (const InputBinding& in : program.inputs)
      undefined.push_back(in.kind == InputBinding::Kind::Tangent &&
                          std::find(roots.begin(), roots.end(), in.index) == roots.end());
    made = std::make_unique<Runner>(optimized(where_undefined(program, undefined)), consumable_);
  }
  return *made;
}

Halves::Halves(Partition p, size_t parts) : saved(std::move(p.saved)), forward(optimized(std::move(p.forward))) {
  if (parts == 1) {
    std::vector<uint32_t> all(saved.size());
    for (uint32_t i = 0; i < all.size(); ++i) all[i] = i;
    backward.emplace_back(std::move(all), std::move(p.backward), saved);
    return;
  }
  // Each by itself: what is fused belongs to one part.
  for (uint32_t part = 0; part < parts; ++part) {
    std::vector<uint32_t> read;
    Program program = backward_of_part(p.backward, part, read);
    backward.emplace_back(std::move(read), std::move(program), saved);
  }
}

PairPrograms::PairPrograms(Program joint, std::shared_ptr<const Trace> t, const BuildRequest& r)
    : trace(std::move(t)),
      request(r),
      roots(joint.roots),
      parts(joint.parts),
      functions(joint.functions),
      first_edges(edges_of(joint)),
      expected(roots.size(), true) {
  whole_ = (halves_[expected] = cut(std::move(joint))).get();
}

Footprint PairPrograms::footprint() const {
  Footprint sum;
  for (const auto& [choice, halves] : halves_) {
    Footprint forward = halves->forward.footprint();
    const Graph& g = halves->forward.graph();
    for (const SavedValue& s : halves->saved)
      if (s.kind == SavedValue::Kind::Fresh) forward.saved += g.meta(g.outputs[s.index]).bytes();
    sum += forward;
    for (const Halves::Backward& part : halves->backward) sum += part.runner.footprint();
  }
  return sum;
}
double PairPrograms::first_run_ms() const {
  double sum = 0;
  for (const auto& [choice, halves] : halves_) {
    sum += halves->forward.first_run_ms();
    for (const Halves::Backward& part : halves->backward) sum += part.runner.first_run_ms();
  }
  return sum;
}

Halves& PairPrograms::halves(Choice& choice) {
  choice = expected;
  auto& made = halves_[choice];
  if (!made) {
    BuildRequest r = request;
    r.tangents = choice;
    Program joint = build(*trace, r);
    optimize(joint.graph, Phase::Whole);
    made = cut(std::move(joint));
  }
  return *made;
}

Compiled& PairPrograms::derivative(uint32_t part, const Tangents& step, bool joint) {
  auto& made = derivatives_[{part, step, joint}];
  if (!made) {
    BuildRequest r{request.derivatives, request.derivatives.empty() ? part : request.part, joint, {}, request.inputs};
    r.derivatives.push_back(step);
    made = compile_request(trace, r);
  }
  return *made;
}

}  // namespace terra::graph
