#include "interpreter_hooks/frame_hook/profitability.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

namespace terra::capture {

namespace {

/// What is assumed of a function that was never recorded: watching and compiling cost so much for each tensor
/// operation, and for the Python around them; a served operation is spared so much, and a little of its own time, less
/// of that of large kernels.
constexpr double price_of_operation = 60, price_of_call = 200, python_slowdown = 10, eager_operation = 3;
constexpr double saving_of_operation = 1, saving_of_time = 0.05, saving_of_kernels = 0.01, most_saved = 0.7;
/// Calls between samples: of a function whose verdict is open, and of one that pays.
constexpr long period = 64, period_of_settled = 1024;
/// Calls after which a function is taken to be called in a loop of the program, rather than by layers of a model.
constexpr long sure_of_a_loop = 8;
constexpr size_t first_samples = 4;  ///< one after the other
constexpr size_t most_doubts = 5;
/// Plain calls are alike where the slowest takes so many times what the fastest takes; a served one that takes so many
/// times the plain one is no matter of the tolerance.
constexpr double spread = 1.5, plainly = 2;
constexpr double shortest = 1e-3;  ///< what a clock that stands still has measured

}  // namespace

double Times::typical() const {
  std::array<double, size> sorted = times_;
  const size_t n = kept();
  if (!n) return 0;
  std::sort(sorted.begin(), sorted.begin() + n);
  const size_t lower = n - n / 4 - (n > 1 && n < 4);
  return std::accumulate(sorted.begin(), sorted.begin() + lower, 0.0) / static_cast<double>(lower);
}

double Times::least() const { return count_ ? *std::min_element(times_.begin(), times_.begin() + kept()) : 0; }

double Times::most() const { return count_ ? *std::max_element(times_.begin(), times_.begin() + kept()) : 0; }

void Pairs::add(double served, double plain) {
  served_.add(served);
  plain_.add(plain);
  ratios_.add(served / plain);
}

void Profitability::ran_plainly(double microseconds, uint64_t operations, double kernels) {
  plain_.add(microseconds);
  count_plain(microseconds);
  const auto calls = static_cast<double>(std::min<size_t>(plain_.count(), 8));
  operations_ += (static_cast<double>(operations) - operations_) / calls;
  kernels_ += (kernels - kernels_) / calls;
}

/// Served calls are worth what the verdict says of them: those with a backward half save something there as well.
double Profitability::searches_in_vain(long hits) {
  const double worth =
      pairs_.count() < 2 ? saving() : std::max(0.0, plain_.typical() * (tolerance_ - pairs_.typical()));
  const double made_up_for =
      static_cast<double>(hits - std::exchange(hits_at_search_, hits)) * worth / std::max(search_, 1.0);
  in_vain_ = std::min(std::max(0.0, in_vain_ - made_up_for) + 1, most_in_vain);
  return in_vain_;
}

void Profitability::recorded(double microseconds) {
  spent_ += microseconds;
  last_price_ = microseconds;
  plain_since_ = 0;
  unpaid_++;
  first_run_ = true;
  next_ = Sample::Served;
  next_sample_ = 0;
}

void Profitability::reopen() {
  verdict_ = Verdict::Open;
  pairs_ = {};
  served_ = {};
  awaited_ = nullptr;
  next_ = Sample::Served;
  next_sample_ = 0;
}

/// What a served call of that length has saved. Before two calls have been compared, plain calls of the function have
/// to tell, whatever their sizes: where they differ much, a time that lies among theirs says nothing.
double Profitability::saved_by(double served) const {
  if (pairs_.count() >= 2) return served / pairs_.typical() - served;
  if (!plain_.count()) return 0;
  const bool alike = plain_.most() <= spread * plain_.least();
  return (alike ? plain_.typical() : std::clamp(served, plain_.least(), plain_.most())) - served;
}

void Profitability::compared(double microseconds) {
  pairs_.add(std::max(awaited_time_, shortest), std::max(microseconds, shortest));
  awaited_ = nullptr;
  judge();
}

double Profitability::served(const void* entry, double microseconds, long hits) {
  served_.add(microseconds);
  const long others = std::max(0L, hits - hits_noted_ - 1);
  hits_noted_ = hits;
  const double saved = saved_by(microseconds) + static_cast<double>(others) * saved_by(served_.typical());
  if (std::exchange(first_run_, false))
    last_price_ += std::max(0.0, -saved_by(microseconds));
  else
    awaited_ = entry, awaited_time_ = microseconds, waited_ = 0;
  (saved > 0 ? brought_back_ : spent_) += std::abs(saved);
  if (brought_back_ > spent_) unpaid_ = 0;
  judge();
  return saved;
}

/// A long call is not run plainly for the sake of a comparison unless the plain runs before seem to have been as fast.
bool Profitability::is_in_doubt() const {
  return served_.count() >= 3 && pairs_.count() < most_doubts && plain_.count() > 0 && served_.least() > plain_.least();
}

void Profitability::sampled(long call) {
  const double served = served_.typical();
  const bool is_long = served > longest;
  const Sample before = next_;
  next_ = Sample::Served;
  if (served_.count() < first_samples) {
    next_sample_ = call + 1;
  } else if (verdict_ == Verdict::Open && awaited_ && (is_long ? is_in_doubt() : before == Sample::Served)) {
    next_ = Sample::Plain;
    next_sample_ = call + 1;
  } else if (served >= always_timed) {
    next_sample_ = call + 1;
  } else {
    next_sample_ = call + (verdict_ == Verdict::Open ? period : period_of_settled);
  }
}

void Profitability::wait(long call) { next_sample_ = call + period_of_settled; }

void Profitability::judge() {
  if (verdict_ != Verdict::Open) return;
  const bool is_long = served_.typical() > longest;
  if (is_long) {
    if (pairs_.count() < most_doubts) return;
    verdict_ = pairs_.least() > tolerance_ ? Verdict::Loses : Verdict::Pays;
    return;
  }
  const bool plainly_worse = pairs_.count() >= first_samples && pairs_.least() > plainly;
  if (plainly_worse)
    verdict_ = Verdict::Loses;
  else if (pairs_.count() >= enough)
    verdict_ = pairs_.typical() > tolerance_ ? Verdict::Loses : Verdict::Pays;
}

double Profitability::price() const {
  if (last_price_ > 0) return last_price_;
  const double python = std::max(0.0, plain_.typical() - kernels_ - eager_operation * operations_);
  return price_of_call + price_of_operation * operations_ +
         std::min(python_slowdown * python, 50 * price_of_operation * (1 + operations_));
}

double Profitability::saving() const {
  const double plain = plain_.typical();
  if (pairs_.count() >= 2) return std::max(0.0, plain * (1 - pairs_.typical()));
  if (served_.count() >= first_samples) return std::max(0.0, plain - served_.typical());
  return std::min(most_saved * plain, saving_of_operation * operations_ + saving_of_time * (plain - kernels_) +
                                          saving_of_kernels * kernels_);
}

double Profitability::dearer(double price) const { return price * std::exp2(std::max(0, unpaid_ - 1)); }

bool Profitability::is_worth_building(double price, int times_met) const {
  return is_cheap(price) || times_met * saving() >= dearer(price);
}

bool Profitability::has_earned_recording() const {
  const double plain = plain_.typical();
  return plain <= 0 || plain_since_ / plain * saving() >= dearer(price());
}

bool Profitability::has_credit(Position position, long calls) const {
  const bool is_outermost =
      position == Position::Outermost || (position == Position::Unsure && calls >= sure_of_a_loop);
  return is_outermost && is_cheap(price());
}

}  // namespace terra::capture
