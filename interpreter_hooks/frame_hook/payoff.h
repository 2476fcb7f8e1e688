// Whether serving a function from its entries is faster than running it plainly: measured, and undone where it is not.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>

namespace terra::capture {

/// The samples of one function. Of every 64 calls one is timed as it is served, misses and all, and the next one is run
/// plainly and timed, until the question is settled. Long calls are not sampled: what is saved or lost there shows in
/// the graph, and a plain run in between would be felt. Times are given in, so that tests need no clock.
class Payoff {
 public:
  enum class Sample : uint8_t { None, Served, Plain };
  enum class Verdict : uint8_t { Open, Pays, Loses };

  /// What call number `call` of the function is for.
  Sample due(long call) const {
    if ((call & 62) != 62 || verdict_ != Verdict::Open) [[likely]]
      return Sample::None;
    return call & 1 ? Sample::Plain : Sample::Served;
  }
  void note(Sample sample, double microseconds);
  Verdict verdict() const { return verdict_; }

  static constexpr size_t wanted = 16;      ///< samples of each kind
  static constexpr double longest = 1000;   ///< microseconds of a served call that is still sampled
  static constexpr double tolerance = 1.1;  ///< served calls that take longer than plain ones times this lose

 private:
  struct Times {
    std::array<double, wanted> times{};
    size_t count = 0;

    void add(double time) { times[count++ % wanted] = time; }
    bool enough() const { return count >= wanted; }
    /// Without the slowest eighth, which the machine is to blame for.
    double mean() const;
  };

  Times served_, plain_;
  Verdict verdict_ = Verdict::Open;
};

}  // namespace terra::capture
