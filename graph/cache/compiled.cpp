#include "graph/cache/compiled.h"

#include <algorithm>

#include "engine/errors/errors.h"
#include "engine/memory/spare.h"
#include "graph/cache/compile_program.h"
#include "graph/cache/pair.h"
#include "graph/cache/run.h"
#include "graph/cache/shaped.h"
#include "graph/ir/print.h"
#include "graph/ir/verify.h"
#include "graph/passes/pipeline.h"
#include "graph/trace/copy.h"

namespace terra::graph {
namespace {

/// A trace whose results have no history outside.
class Single final : public Compiled {
 public:
  explicit Single(Program program) : runner_(std::move(program)) {}

  RunResult run(LentTensors inputs, std::span<const Scalar> scalars, const std::function<bool()>& before_commit,
                std::vector<RunOutput>& outputs, Release* release, const SameTensors& same) override {
    Spare<Runner::Made>::Use use(made_);
    Runner::Made& made = use.get();
    made.stands = !before_commit;
    const auto ready = [&] {
      runner_.collect(made, outputs);
      return !before_commit || before_commit();
    };
    const RunResult result = runner_.run(inputs, scalars, {}, interrupt_poll(), std::cref(ready), made, release, same);
    if (result.status == RunStatus::Done) {
      runner_.publish(inputs, made);
      runner_.retain_gradients(made);
    }
    return result;
  }

  bool reads(uint32_t tensor) const override { return runner_.reads(tensor); }
  std::string text() const override { return print(runner_.graph()); }
  size_t node_count() const override { return count_nodes(runner_.graph()); }
  size_t call_count() const override { return runner_.program().calls; }
  const std::vector<Generator*>& generators() const override { return runner_.program().generators; }
  Footprint footprint() const override { return runner_.footprint(); }
  double first_run_ms() const override { return runner_.first_run_ms(); }

 private:
  Runner runner_;
  Spare<Runner::Made> made_;
};

std::shared_ptr<Compiled> make_single(Program program) {
  optimize(program.graph, Phase::Part);
  return std::make_shared<Single>(std::move(program));
}

}  // namespace

Footprint& Footprint::operator+=(const Footprint& other) {
  run = std::max(run, other.run);
  kept += other.kept;
  constants += other.constants;
  saved = std::max(saved, other.saved);
  return *this;
}

std::shared_ptr<Compiled> compile_request(std::shared_ptr<const Trace> trace, const BuildRequest& request) {
  Program program = build(*trace, request);
  verify(program.graph, Stage::Captured, "built from a trace");
  optimize(program.graph, Phase::Whole);
  if (request.joint && !program.roots.empty()) return make_pair(std::move(program), std::move(trace), request);
  return make_single(std::move(program));
}

std::shared_ptr<Compiled> compile(Program program) {
  ensure(program.roots.empty(), "results of a program that runs alone have no history");
  optimize(program.graph, Phase::Whole);
  return make_single(std::move(program));
}

std::shared_ptr<Compiled> compile(const Trace& trace) {
  auto kept = std::make_shared<const Trace>(copy_of(trace));
  std::shared_ptr<Compiled> recorded = compile_request(kept, {});
  if (!has_free_shapes(trace)) return recorded;
  return make_shaped(std::move(kept), std::move(recorded));
}

}  // namespace terra::graph
