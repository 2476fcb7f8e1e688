// Convolutions and pools.
#include "recursive/batching/batched_call.h"

namespace terra::recursive {
namespace {

/// So many dimensions has a batch of images, which ops of images take as well as a single one.
size_t batch_rank(const Op& op) { return op.name.find("3d") == std::string_view::npos ? 4 : 5; }

/// Images of all calls are one batch of images.
void one_batch(BatchedCall& c) {
  c.refuse_rows(1);
  const Batched x = c.at(0);
  if (x.rank() + 1 == batch_rank(c.op)) return c.emit();  // each call has one
  if (x.rank() != batch_rank(c.op)) c.refuse("is of something other than images");
  Dims sizes = sizes_of(x);
  const int64_t images = sizes[0];
  sizes[0] *= c.rows;
  c.set(0, run("reshape", x.tensor, sizes));
  c.emit();
  for (Batched& r : c.results) {
    Dims made = r.tensor.sizes();
    made[0] = images;
    r.tensor = run("reshape", r.tensor, with_rows(c.rows, made));
  }
}

}  // namespace

std::span<const NamedRule> image_rules() {
  static constexpr NamedRule rules[] = {
      {"conv2d", one_batch},
      {"conv3d", one_batch},
      {"max_pool2d", one_batch},
      {"max_pool2d_with_indices", one_batch},
      {"avg_pool2d", one_batch},
      {"adaptive_avg_pool2d", one_batch},
      {"adaptive_max_pool2d_with_indices", one_batch},
  };
  return rules;
}

}  // namespace terra::recursive
