#include "graph/cache/halves.h"

#include <algorithm>
#include <numeric>
#include <set>

#include "engine/errors/errors.h"
#include "graph/cache/pair.h"
#include "graph/cache/pair_batch.h"
#include "graph/gradient/fold.h"
#include "graph/gradient/undefined.h"
#include "graph/passes/pipeline.h"
#include "kernels/abi/exact_mode.h"

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

std::vector<uint32_t> all_of(size_t count) {
  std::vector<uint32_t> numbers(count);
  std::iota(numbers.begin(), numbers.end(), 0);
  return numbers;
}

/// Of a program that gets gradients for some roots only, by number.
Program where_given(const Program& program, const std::vector<uint32_t>& roots) {
  std::vector<bool> undefined;
  for (const InputBinding& in : program.inputs)
    undefined.push_back(in.kind == InputBinding::Kind::Tangent &&
                        std::find(roots.begin(), roots.end(), in.index) == roots.end());
  return where_undefined(program, undefined);
}

/// With a place for each addend, one at least.
std::vector<uint32_t> first_of(std::vector<uint32_t> addends) {
  for (size_t j = 1; j < addends.size(); ++j) addends[j] = addends[j - 1] + std::max(addends[j], 1u);
  return addends;
}

std::vector<uint32_t> saved_by_calls(const std::vector<ProgramPart>& parts) {
  std::set<uint32_t> saved;
  for (const ProgramPart& part : parts)
    for (const SavingCalls& calls : part.ways.saving)
      for (const SavedMemory& memory : calls.memory)
        if (memory.kind == SavedMemory::Kind::Input) saved.insert(memory.index);
  return {saved.begin(), saved.end()};
}

bool keeps_gradients(const Program& joint) {
  return std::any_of(joint.tensors.begin(), joint.tensors.end(), [](const TensorSpec& t) { return t.retains_grad; });
}

}  // namespace

PairParts::PairParts(const Program& joint) : roots(joint.roots), each(joint.parts) {
  std::vector<std::vector<uint32_t>> addends;
  for (const ProgramPart& part : each) addends.emplace_back(part.targets.size() + 1, 0);
  for (const Program::Gradient& g : joint.gradients) ++addends[g.part][g.target + 1];
  for (std::vector<uint32_t>& of_part : addends) first_edges_.push_back(first_of(std::move(of_part)));
  if (each.size() == 1 || !joint.functions.empty() || keeps_gradients(joint)) return;
  all_ = graph::fold(roots, each);
  inside_ = leads_on(*all_, each);
  first_edges_of_all_ = all_of(all_->targets.size() + 1);
}

Halves::Backward::Backward(std::vector<uint32_t> s, Program p, const std::vector<SavedValue>& values,
                           std::function<Program(const std::vector<uint32_t>&)> where)
    : saved(std::move(s)),
      program(std::move(p)),
      batch(std::make_unique<PairBatch>(program)),
      consumable_(made_by_forward(saved, values)),
      where_(std::move(where)) {}

Halves::Backward::~Backward() = default;

Runner& Halves::Backward::runner() {
  if (!runner_) runner_ = std::make_unique<Runner>(optimized(program), consumable_);
  return *runner_;
}

Runner& Halves::Backward::runner_where_given(const std::vector<uint32_t>& roots) {
  std::unique_ptr<Runner>& made = partly_[roots];
  if (!made) made = std::make_unique<Runner>(optimized(where_(roots)), consumable_);
  return *made;
}

Halves::Halves(Partition p, const PairParts& parts, uint32_t part)
    : saved(std::move(p.saved)), forward(optimized(std::move(p.forward))), parts_(parts), cut_(std::move(p.backward)) {
  backward(part);
}

Halves::Backward& Halves::backward(uint32_t part) {
  if (const auto made = backward_.find(part); made != backward_.end()) return made->second;
  std::vector<uint32_t> read = all_of(saved.size());
  Program program;
  std::function<Program(const std::vector<uint32_t>&)> where;
  if (part == PairParts::kAll) {
    where = [this](const std::vector<uint32_t>& roots) {
      Program all = backward_of_all(cut_, parts_.roots.size(), parts_.each, parts_[PairParts::kAll], roots);
      optimize(all.graph, Phase::Whole);
      return all;
    };
    program = where(parts_[part].roots);
  } else {
    if (parts_.each.size() == 1) {
      program = cut_;
    } else {  // each by itself: what is fused belongs to one part
      read.clear();
      program = backward_of_part(cut_, part, read);
    }
    for (const InputBinding& in : program.inputs)
      ensure(in.kind != InputBinding::Kind::Tangent || parts_.roots[in.index].part == part,
             "the gradients of one part wait for those of another");
    where = [this, part](const std::vector<uint32_t>& roots) {
      return graph::where_given(backward_.at(part).program, roots);
    };
  }
  return backward_.try_emplace(part, std::move(read), std::move(program), saved, std::move(where)).first->second;
}

std::vector<const Runner*> Halves::runners() const {
  std::vector<const Runner*> all{&forward};
  for (const auto& [part, backward] : backward_) {
    if (backward.runner_) all.push_back(backward.runner_.get());
    for (const auto& [roots, runner] : backward.partly_) all.push_back(runner.get());
  }
  return all;
}

PairPrograms::PairPrograms(Program joint, std::shared_ptr<const Trace> t, const BuildRequest& r)
    : trace(std::move(t)),
      request(r),
      parts(joint),
      functions(joint.functions),
      saved_inputs(saved_by_calls(parts.each)),
      expected_(parts.roots.size(), true) {
  whole_ = (halves_[expected_] = cut(std::move(joint))).get();
}

bool PairPrograms::can_fold() const { return parts.can_fold() && apart_ == 0 && !exact_mode(); }

bool PairPrograms::folds_next() {
  const bool folds = can_fold();
  if (apart_ > 0) --apart_;
  return folds;
}

std::unique_ptr<Halves> PairPrograms::cut(Program joint) const {
  return std::make_unique<Halves>(partition(std::move(joint)), parts, can_fold() ? PairParts::kAll : 0);
}

void PairPrograms::expect(uint32_t part, const Choice& given, bool keep) {
  Choice comes(parts.roots.size(), false);
  for (size_t k = 0; k < given.size(); ++k) comes[parts[part].roots[k]] = given[k];
  const auto pass = [&](const ProgramPart& passed) {
    for (const uint32_t k : passed.roots) expected_[k] = comes[k] || (keep && expected_[k]);
  };
  if (part != PairParts::kAll) {
    pass(parts[part]);
  } else {
    close_over(comes, parts.each);
    for (const ProgramPart& each : parts.each)
      if (is_any_of(each.roots, comes)) pass(each);
  }
  if (parts.each.size() > 1) close_over(expected_, parts.each);
}

Footprint PairPrograms::footprint() const {
  Footprint sum;
  for (const auto& [choice, halves] : halves_) {
    for (const Runner* runner : halves->runners()) sum += runner->footprint();
    Footprint saved;
    const Graph& g = halves->forward.graph();
    for (const SavedValue& s : halves->saved)
      if (s.kind == SavedValue::Kind::Fresh) saved.saved += g.meta(g.outputs[s.index]).bytes();
    sum += saved;
  }
  return sum;
}

double PairPrograms::first_run_ms() const {
  double sum = 0;
  for (const auto& [choice, halves] : halves_)
    for (const Runner* runner : halves->runners()) sum += runner->first_run_ms();
  return sum;
}

Halves& PairPrograms::halves(Choice& choice) {
  choice = expected_;
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
