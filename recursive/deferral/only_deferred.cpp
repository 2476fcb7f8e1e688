#include "recursive/deferral/only_deferred.h"

namespace terra::recursive {
namespace {

class OnlyDeferred final : public graph::Compiled {
 public:
  explicit OnlyDeferred(size_t calls) : calls_(calls) {}

  graph::RunResult run(LentTensors, std::span<const Scalar>, const std::function<bool()>&,
                       std::vector<graph::RunOutput>&, graph::Release*, const graph::SameTensors&) override {
    return {graph::RunStatus::Busy, 0};
  }
  std::string text() const override { return {}; }
  size_t node_count() const override { return 0; }
  size_t call_count() const override { return calls_; }
  const std::vector<Generator*>& generators() const override { return generators_; }
  graph::Footprint footprint() const override { return {}; }
  double first_run_ms() const override { return 0; }
  std::string refusal() const override { return "its runs are only ever put off"; }

 private:
  const size_t calls_;
  const std::vector<Generator*> generators_;
};

}  // namespace

std::shared_ptr<graph::Compiled> only_deferred(size_t calls) { return std::make_shared<OnlyDeferred>(calls); }

}  // namespace terra::recursive
