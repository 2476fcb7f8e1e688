// When runs of an entry are compared with plain execution, and what that may cost in time and memory. Times and sizes
// are given in, so that tests need no clock.
#pragma once
#include <algorithm>
#include <array>
#include <climits>
#include <cstddef>
#include <cstdint>

namespace terra::capture {

/// How a call can come to be served. Each remembers other things of earlier runs, so each is checked by itself.
enum class Way : uint8_t {
  Whole,     ///< all guards, on a frame
  Short,     ///< what has not changed is taken as known (guards/guard_memo.h), on a frame
  Direct,    ///< the same, without a frame (frame_hook/direct_call.h)
  Merged,    ///< paths that run as one graph (frame_hook/merged_entries.h)
  Released,  ///< other threads went on while the graph computed (frame_hook/release.h)
};
constexpr size_t ways = 5;
constexpr std::array<const char*, ways> way_names = {"whole", "short", "direct", "merged", "released"};

/// The checks of one entry: its first replay by each way, another one of the first few, which may rest on what the one
/// before it has left behind, and then ever rarer ones: a check after n replays is followed by one after 8n.
class Checks {
 public:
  /// To be asked before each replay: `replays` is how many there were.
  bool due(Way way, long replays) const { return replays >= at_[index(way)]; }

  void passed(Way way, long replays) {
    doubts_[index(way)] = 0;
    move(way, replays);
  }
  /// The next replay is to be checked.
  void again(Way way) { at_[index(way)] = 0; }
  /// The next replay is not to be checked.
  void skip(Way way, long replays) { at_[index(way)] = replays + 1; }
  /// A check can't be made now; later perhaps.
  void put_off(Way way, long replays) { at_[index(way)] = replays + std::clamp(replays, 1L, most_put_off); }
  /// By none of the ways, for good.
  void never() { at_.fill(LONG_MAX); }
  /// The run that is under way was released. Nothing tells that in advance: the next one is checked in its place.
  void released(long replays) {
    if (!due(Way::Released, replays)) return;
    move(Way::Released, replays);
    for (const Way way : {Way::Whole, Way::Short, Way::Direct}) again(way);
  }

  /// A value came out otherwise, where rounding might have done that. True: too often in a row to be that. Until it is
  /// settled each replay by this way is checked.
  bool doubt(Way way) {
    is_delicate_ = true;
    again(way);
    return ++doubts_[index(way)] >= looks;
  }
  bool in_doubt(Way way) const { return doubts_[index(way)] > 0; }
  /// There has been a doubt: how far rounding moves its results has to be measured.
  bool is_delicate() const { return is_delicate_; }

  /// What a check takes, in seconds: known once there was one, until then thought from a plain run and the bytes to be
  /// copied and compared.
  double cost(size_t bytes) const {
    if (cost_ > 0) return cost_;
    return runs_per_check * plain_seconds + least_cost + static_cast<double>(bytes) / bytes_per_second;
  }
  void took(double seconds) { cost_ = seconds; }

  double plain_seconds = 0;  ///< of the frame, as it was recorded

  static constexpr int looks = 3;

 private:
  static constexpr long most_put_off = 64, growth = 8, second = 3;
  static constexpr double runs_per_check = 3;      ///< of the graph, of the frame, and what both leave behind
  static constexpr double least_cost = 50e-6;      ///< seconds
  static constexpr double bytes_per_second = 1e9;  ///< copied and compared

  static constexpr size_t index(Way way) { return static_cast<size_t>(way); }
  void move(Way way, long replays) {
    at_[index(way)] = known_[index(way)] ? growth * (replays + 1) - 1 : replays + second;
    known_[index(way)] = true;
  }

  std::array<long, ways> at_{};     ///< replays before the next check
  std::array<bool, ways> known_{};  ///< had a check
  std::array<uint8_t, ways> doubts_{};
  bool is_delicate_ = false;
  double cost_ = 0;
};

/// Seconds that checks may take of a program's: a fiftieth, and in the first tenth of a second what that will have
/// made.
class CheckAccount {
 public:
  static constexpr double share = 0.02;
  static constexpr double head_start = 0.05;  ///< seconds

  /// Whether a check that will take `cost` may be made `elapsed` seconds after the start.
  bool affords(double cost, double elapsed) const { return spent_ + cost <= share * std::max(elapsed, head_start); }
  void spend(double seconds) {
    spent_ += seconds;
    checks_++;
  }
  double spent() const { return spent_; }
  long checks() const { return checks_; }

 private:
  double spent_ = 0;
  long checks_ = 0;
};

/// Bytes that a check may hold: copies of the inputs, and what the graph made, kept while the interpreter makes it
/// again. They have to fit below the most that the program has held by itself, so a check that is due where memory is
/// short (the end of a forward half) waits for a replay where there is room, of a later step say.
class CheckMemory {
 public:
  static constexpr size_t most = size_t{64} << 20;                         ///< in any case
  static constexpr size_t allowance = size_t{8} << 20, allowed_part = 64;  ///< above the peak: this, or a part of it

  /// What a check may hold now, where `live` bytes are in use and `peak` is the most that has been so far.
  size_t room(size_t live, size_t peak) const {
    const size_t own = peak > raised_to_ ? peak : peak_before_;
    const size_t bound = own + std::max(allowance, own / allowed_part);
    return std::min(most, bound > live ? bound - live : 0);
  }
  /// A check was made; the peak was, and is. Above that the peak is the program's own again.
  void made(size_t peak_before, size_t peak) {
    if (peak == peak_before) return;
    if (peak_before > raised_to_) peak_before_ = peak_before;
    raised_to_ = peak;
  }

 private:
  size_t peak_before_ = 0, raised_to_ = 0;
};

}  // namespace terra::capture
