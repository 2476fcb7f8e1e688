#include "kernels/cpu/fused.h"

#include <algorithm>

#include "kernels/abi/parallel.h"
#include "kernels/cpu/elementwise.h"
#include "kernels/cpu/short_rows.h"

namespace terra::cpu {
namespace {

constexpr int64_t kTileBudget = 24 * 1024;  // bytes that a tile of all operands may take: most of an L1 cache

/// Scratch of this thread, kept between runs.
char* scratch_of_thread(size_t bytes) {
  static thread_local std::vector<char> memory;
  if (memory.size() < bytes + 64) memory.resize(bytes + 64);
  return memory.data() + (64 - reinterpret_cast<uintptr_t>(memory.data()) % 64) % 64;
}

class TiledGroup final : public FusedKernel {
 public:
  explicit TiledGroup(const FusedGroup& group);
  void launch() const override;

 private:
  using SlotKind = FusedGroup::Slot::Kind;
  struct Slot {
    SlotKind kind;
    uint8_t size;          ///< bytes per element
    void* const* data;     ///< of the group's slot
    int32_t strided = -1;  ///< Strided: index into strided_
    int32_t tile = -1;     ///< scratch number: Between always, Strided where rows are packed
  };
  struct Step {
    ElementwiseLoop loop;
    const KernelArg* params;
    uint32_t first, count;  ///< operands_[first..first + count): the output's slot, then the inputs'
  };
  struct StridedInput {
    uint32_t slot;
    std::span<const int64_t> strides;
  };

  void assign_tiles();
  void choose_tile();
  char* data(const Slot& slot) const { return static_cast<char*>(*slot.data); }

  void run_flat(int64_t begin, int64_t end) const;
  void run_rows(int64_t begin, int64_t end) const;
  void run_tile(int64_t begin, int64_t n, char* scratch, char* const* strided_at) const;

  std::vector<Slot> slots_;
  std::vector<uint32_t> operands_;
  std::vector<Step> steps_;
  std::vector<StridedInput> strided_;
  std::span<const int64_t> dims_;
  int64_t numel_;
  int64_t tile_ = 0;        ///< elements
  int32_t tiles_ = 0;       ///< scratch tiles
  int64_t tile_bytes_ = 0;  ///< of one scratch tile
  int64_t grain_ = 0;
  bool packs_;
};

TiledGroup::TiledGroup(const FusedGroup& group)
    : dims_(group.sizes), numel_(group.numel), packs_(dims_.size() > 1 && dims_.back() < kShortRow) {
  for (const FusedGroup::Slot& s : group.slots) {
    Slot& slot = slots_.emplace_back(Slot{s.kind, static_cast<uint8_t>(size_of(s.dtype)), &s.data});
    if (s.kind != SlotKind::Strided) continue;
    slot.strided = static_cast<int32_t>(strided_.size());
    strided_.push_back({static_cast<uint32_t>(slots_.size() - 1), s.strides});
  }
  int64_t cost = 0;
  for (const FusedGroup::Step& s : group.steps) {
    steps_.push_back({loop_of(*s.kernel, s.dtype), s.params.data(), static_cast<uint32_t>(operands_.size()),
                      static_cast<uint32_t>(s.operands.size())});
    operands_.insert(operands_.end(), s.operands.begin(), s.operands.end());
    cost += s.kernel->cost;
  }
  assign_tiles();
  choose_tile();
  const int64_t unit = steps_.size() == 1 && tiles_ == 0 ? 64 : tile_;
  grain_ = (grain_for_cost(cost) + unit - 1) / unit * unit;
}

/// A tile of scratch is free again after the last step that reads it. Packed inputs are alive from the start.
void TiledGroup::assign_tiles() {
  std::vector<int32_t> last_read(slots_.size(), -1);
  for (size_t s = 0; s < steps_.size(); ++s)
    for (uint32_t k = 0; k < steps_[s].count; ++k) last_read[operands_[steps_[s].first + k]] = static_cast<int32_t>(s);
  std::vector<int32_t> free_tiles;
  const auto take = [&] {
    if (free_tiles.empty()) return tiles_++;
    const int32_t t = free_tiles.back();
    free_tiles.pop_back();
    return t;
  };
  int64_t widest = 1;
  if (packs_)
    for (const StridedInput& s : strided_) {
      slots_[s.slot].tile = take();
      widest = std::max<int64_t>(widest, slots_[s.slot].size);
    }
  for (size_t k = 0; k < steps_.size(); ++k) {
    Slot& out = slots_[operands_[steps_[k].first]];
    if (out.kind == SlotKind::Between && out.tile < 0) {
      out.tile = take();
      widest = std::max<int64_t>(widest, out.size);
    }
    for (size_t s = 0; s < slots_.size(); ++s)
      if (slots_[s].tile >= 0 && last_read[s] == static_cast<int32_t>(k)) free_tiles.push_back(slots_[s].tile);
  }
  tile_bytes_ = widest;  // per element, until the tile is chosen
}

void TiledGroup::choose_tile() {
  int64_t bytes = 0;
  for (const Slot& s : slots_)
    if (s.kind == SlotKind::Contiguous || (s.kind == SlotKind::Strided && !packs_)) bytes += s.size;
  bytes += tiles_ * tile_bytes_;
  const bool one_loop = steps_.size() == 1 && tiles_ == 0;
  tile_ = one_loop ? numel_ : std::clamp<int64_t>(kTileBudget / std::max<int64_t>(bytes, 1) / 64 * 64, 128, 4096);
  tile_bytes_ *= tile_;
}

void TiledGroup::launch() const {
  if (numel_ == 0) return;
  if (dims_.empty() || packs_)
    parallel_for(numel_, grain_, [this](int64_t begin, int64_t end) { run_flat(begin, end); });
  else
    parallel_for(numel_, grain_, [this](int64_t begin, int64_t end) { run_rows(begin, end); });
}

void TiledGroup::run_flat(int64_t begin, int64_t end) const {
  char* scratch = tiles_ > 0 ? scratch_of_thread(static_cast<size_t>(tiles_ * tile_bytes_)) : nullptr;
  for (int64_t at = begin; at < end; at += tile_) {
    const int64_t n = std::min(tile_, end - at);
    if (packs_)
      for (const StridedInput& s : strided_) {
        const Slot& slot = slots_[s.slot];
        pack({data(slot), dims_, s.strides, slot.size}, at, n, scratch + slot.tile * tile_bytes_);
      }
    run_tile(at, n, scratch, nullptr);
  }
}

void TiledGroup::run_rows(int64_t begin, int64_t end) const {
  char* scratch = tiles_ > 0 ? scratch_of_thread(static_cast<size_t>(tiles_ * tile_bytes_)) : nullptr;
  const int64_t row = dims_.back();
  std::vector<char*> at(strided_.size());
  for (int64_t done = begin; done < end;) {
    int64_t rest = done / row;
    const int64_t column = done % row;
    for (size_t k = 0; k < strided_.size(); ++k)
      at[k] = data(slots_[strided_[k].slot]) + column * strided_[k].strides.back();
    for (size_t d = dims_.size() - 1; d-- > 0; rest /= dims_[d])
      for (size_t k = 0; k < strided_.size(); ++k) at[k] += rest % dims_[d] * strided_[k].strides[d];
    const int64_t stop = std::min(end, done + row - column);
    while (done < stop) {
      const int64_t n = std::min(tile_, stop - done);
      run_tile(done, n, scratch, at.data());
      for (size_t k = 0; k < strided_.size(); ++k) at[k] += n * strided_[k].strides.back();
      done += n;
    }
  }
}

void TiledGroup::run_tile(int64_t begin, int64_t n, char* scratch, char* const* strided_at) const {
  for (const Step& step : steps_) {
    char* data[kMaxFusedOperands];
    int64_t strides[kMaxFusedOperands];
    for (uint32_t k = 0; k < step.count; ++k) {
      const Slot& s = slots_[operands_[step.first + k]];
      strides[k] = s.size;
      switch (s.kind) {
        case SlotKind::Contiguous: data[k] = this->data(s) + begin * s.size; break;
        case SlotKind::One:
        case SlotKind::Number:
          data[k] = this->data(s);
          strides[k] = 0;
          break;
        case SlotKind::Between: data[k] = scratch + s.tile * tile_bytes_; break;
        case SlotKind::Strided:
          if (packs_) {
            data[k] = scratch + s.tile * tile_bytes_;
          } else {
            data[k] = strided_at[s.strided];
            strides[k] = strided_[s.strided].strides.back();
          }
          break;
      }
    }
    step.loop(data, strides, n, step.params);
  }
}

}  // namespace

std::unique_ptr<FusedKernel> prepare_fused(const FusedGroup& group) { return std::make_unique<TiledGroup>(group); }

}  // namespace terra::cpu
