#include "kernels/cpu/convolution_parts.h"

#include <bit>

namespace terra::cpu {
namespace {

ConvParts equal_parts(ConvAxis axis, int64_t length, int64_t count) {
  return {axis, count, length / count, length % count};
}

}  // namespace

ConvParts parts_of(const ConvShape& s, ConvPass pass) {
  constexpr double kPartOperations = 96e6;  // most of a millisecond: reads the weights anew, which should not show
  constexpr int64_t kMostParts = 32;
  constexpr double kChannelPartOperations = 32e6;
  constexpr int64_t kCacheBytes = 768 << 10;  // most of a second-level cache
  const double operations = s.operations();
  const int64_t wanted = std::clamp<int64_t>(static_cast<int64_t>(operations / kPartOperations), 1, kMostParts);
  const int64_t image_bytes = 4 * (s.ic * s.input_pixels() + s.oc * s.output_pixels());
  const int64_t for_cache = std::min(kMostParts, (s.n * image_bytes + kCacheBytes - 1) / kCacheBytes);
  const int64_t images = std::min(s.n, std::max(wanted, for_cache));

  const int64_t channels = pass == ConvPass::BackwardInput ? s.ic : s.oc;
  constexpr int64_t kChannelBlock = 32;
  const bool by_channels_possible = s.groups == 1 && channels % kChannelBlock == 0;
  const int64_t channel_parts = std::bit_floor(
      static_cast<uint64_t>(std::clamp<int64_t>(static_cast<int64_t>(operations / kChannelPartOperations), 1,
                                                std::clamp<int64_t>(channels / kChannelBlock, 1, 8))));

  if (pass == ConvPass::BackwardWeight) {
    // Parts by images leave a gradient each, to be summed: at most a twentieth of the time may go there (at 10 GB/s
    // against 100 GF/s); otherwise parts by output channels, which leave nothing to sum.
    const double weight_bytes = 4.0 * static_cast<double>(s.oc * (s.ic / s.groups) * s.taps());
    const int64_t affordable = static_cast<int64_t>(operations / (200.0 * weight_bytes));
    if (affordable < std::min<int64_t>(images, 4) && by_channels_possible && channels % channel_parts == 0) {
      return equal_parts(ConvAxis::Channels, channels, channel_parts);
    }
    return equal_parts(ConvAxis::Images, s.n, std::clamp<int64_t>(std::min<int64_t>(affordable, 8), 1, images));
  }
  if (s.n < 4 && s.n < channel_parts && by_channels_possible && channels % (channel_parts * kChannelBlock) == 0) {
    return equal_parts(ConvAxis::Channels, channels, channel_parts);
  }
  return equal_parts(ConvAxis::Images, s.n, images);
}

}  // namespace terra::cpu
