#include "kernels/cpu/blas_core.h"

#include <openblas-serial/cblas.h>
#include <strings.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdlib>
#include <optional>
#include <string>
#include <vector>

#include "kernels/abi/exact_mode.h"
#include "kernels/cpu/blas.h"

// Neither is in OpenBLAS's headers: they clear and fill its table of kernels.
extern "C" void gotoblas_dynamic_quit();
extern "C" void gotoblas_dynamic_init();

namespace terra::cpu::blas {
namespace {

/// OpenBLAS reads the name of the wanted core from the environment only; the variable is put back.
void select_core(const char* name) {
  constexpr const char* kVariable = "OPENBLAS_CORETYPE";
  if (strcasecmp(openblas_get_corename(), name) == 0) return;
  std::optional<std::string> before;
  if (const char* value = std::getenv(kVariable)) before = value;
  setenv(kVariable, name, 1);
  gotoblas_dynamic_quit();
  gotoblas_dynamic_init();
  if (before) {
    setenv(kVariable, before->c_str(), 1);
  } else {
    unsetenv(kVariable);
  }
}

double seconds_of(const auto& work) {
  const auto start = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

/// The products that the core is judged by: one large in the form of a linear layer, and some small ones.
class Probe {
 public:
  void large() const { product(CblasTrans, 128, 192, 256); }
  void small() const {
    for (int i = 0; i < 64; ++i) product(CblasNoTrans, 16, 64, 32);
  }

 private:
  void product(CBLAS_TRANSPOSE b, int m, int n, int k) const {
    cblas_sgemm(CblasRowMajor, CblasNoTrans, b, m, n, k, 1.0f, a_.data(), k, b_.data(), b == CblasTrans ? k : n, 0.0f,
                c_.data(), n);
  }
  std::vector<float> a_ = std::vector<float>(128 * 256, 1.0f);
  std::vector<float> b_ = std::vector<float>(192 * 256, 1.0f);
  mutable std::vector<float> c_ = std::vector<float>(128 * 192);
};

/// Neither table of kernels wins on every processor, nor for every size on one processor: the smallest product of the
/// times for large and small wins. Best of three, the candidates taking turns.
const char* fastest(const auto& candidates) {
  const Probe probe;
  std::array<double, 4> large, small;
  large.fill(1e9);
  small.fill(1e9);
  for (int round = 0; round < 4; ++round) {
    for (size_t i = 0; i < candidates.size(); ++i) {
      select_core(candidates[i]);
      large[i] = std::min(large[i], seconds_of([&] { probe.large(); }));
      small[i] = std::min(small[i], seconds_of([&] { probe.small(); }));
    }
  }
  size_t best = 0;
  for (size_t i = 1; i < candidates.size(); ++i) {
    if (large[i] * small[i] < large[best] * small[best]) best = i;
  }
  return candidates[best];
}

bool choose_core() {
  __builtin_cpu_init();
  if (const char* name = std::getenv("TERRA_BLAS_CORE")) {
    select_core(name);
  } else if (__builtin_cpu_supports("x86-64-v4")) {
    constexpr std::array kCandidates = {"SkylakeX", "Haswell"};
    select_core(exact_mode() ? kCandidates[0] : fastest(kCandidates));
  } else if (__builtin_cpu_supports("x86-64-v3")) {
    select_core("Haswell");
  }  // else OpenBLAS's own choice
  return true;
}

}  // namespace

void ensure_core() {
  static const bool chosen = choose_core();
  static_cast<void>(chosen);
}

const char* core_name() {
  ensure_core();
  return openblas_get_corename();
}

}  // namespace terra::cpu::blas
