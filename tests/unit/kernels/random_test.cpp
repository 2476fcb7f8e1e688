// The expected numbers are PyTorch 2.15's, from its CPU generator.
#include "kernels/cpu/random.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <memory>
#include <string>
#include <vector>

using namespace terra;
using namespace terra::random;

namespace {

/// What draw(state, out) writes for the seed is `expected`, bit for bit.
template <class T, class Draw>
void check_draw(const char* call, uint64_t value, const std::vector<T>& expected, const Draw& draw) {
  INFO(call << ", seed " << value);
  RandomState state;
  seed(state, value);
  std::vector<T> out(expected.size());
  draw(state, out.data());
  CHECK(out == expected);
}

/// The same within a few units in the last place: PyTorch's vectorized logarithm and sine differ from libm's there.
template <class T, class Draw>
void check_close(const char* call, uint64_t value, const std::vector<T>& expected, double tolerance, const Draw& draw) {
  INFO(call << ", seed " << value);
  RandomState state;
  seed(state, value);
  std::vector<T> out(expected.size());
  draw(state, out.data());
  for (size_t i = 0; i < out.size(); ++i) CHECK(std::abs(out[i] - expected[i]) <= tolerance * std::abs(expected[i]));
}

}  // namespace

TEST_CASE("draws are PyTorch's, bit for bit", "[random]") {
  check_draw<float>("rand, f32", 0, {0x1.fc2abp-2, 0x1.89545ep-1, 0x1.6a675p-4, 0x1.0e66p-3, 0x1.3acd0cp-2},
                    [](RandomState& s, float* out) { uniform(s, out, 5, 0, 1); });
  check_draw<float>("rand, f32", 123, {0x1.2f37f8p-2, 0x1.087adap-1, 0x1.01b5f8p-2, 0x1.608a84p-1, 0x1.2efdcp-4},
                    [](RandomState& s, float* out) { uniform(s, out, 5, 0, 1); });
  check_draw<double>(
      "rand, f64", 0,
      {0x1.f0aac97c4aa2fp-1, 0x1.6a675d821cccp-1, 0x1.d6687b744a5f6p-2, 0x1.d76c3d8e57d67p-1, 0x1.4a4099fa1ded3p-1},
      [](RandomState& s, double* out) { uniform(s, out, 5, 0, 1); });
  check_draw<double>(
      "rand, f64", 123,
      {0x1.79bfd6d087adap-2, 0x1.b5f9b6c11508p-7, 0x1.2efdcb0ddd462p-1, 0x1.7b735c0d1e088p-4, 0x1.e3ca6fb73f0d4p-2},
      [](RandomState& s, double* out) { uniform(s, out, 5, 0, 1); });
  check_draw<float>("uniform_(-0.25, 0.25)", 0, {-0x1.eaa8p-10, 0x1.12a8bcp-3, -0x1.a5662cp-3, -0x1.78cdp-3},
                    [](RandomState& s, float* out) { uniform(s, out, 4, -0.25, 0.25); });
  check_draw<float>("uniform_(-0.25, 0.25)", 123, {-0x1.a1901p-4, 0x1.0f5b4p-7, -0x1.fc941p-4, 0x1.822a1p-4},
                    [](RandomState& s, float* out) { uniform(s, out, 4, -0.25, 0.25); });
  check_draw<float>("randn(5), f32", 0, {0x1.8a7eb8p+0, -0x1.2c78ap-2, -0x1.16e292p+1, 0x1.23096cp-1, -0x1.15a342p+0},
                    [](RandomState& s, float* out) { normal(s, out, 5, 0, 1); });
  check_draw<float>("randn(5), f32", 123,
                    {-0x1.c891bep-4, 0x1.ed01b2p-4, -0x1.7a8178p-2, -0x1.ec6042p-3, -0x1.3269a2p+0},
                    [](RandomState& s, float* out) { normal(s, out, 5, 0, 1); });
  check_draw<double>(
      "randn(5), f64", 0,
      {0x1.8a7eb8902be3ap+0, -0x1.2c78a087c6feap-2, -0x1.16e2920a70ee5p+1, 0x1.23096ca3e350dp-1, -0x1.15a341987e136p+0},
      [](RandomState& s, double* out) { normal(s, out, 5, 0, 1); });
  check_draw<double>("randn(5), f64", 123,
                     {-0x1.c891be348e115p-4, 0x1.ed01b1c608467p-4, -0x1.7a8177fc34a66p-2, -0x1.ec60429c64f0cp-3,
                      -0x1.3269a2efacd7dp+0},
                     [](RandomState& s, double* out) { normal(s, out, 5, 0, 1); });
  check_draw<float>("normal_(2, 3)", 0, {0x1.a7df0ap+2, 0x1.1ea588p+0, -0x1.2253dcp+2, 0x1.da4712p+1},
                    [](RandomState& s, float* out) { normal(s, out, 4, 2, 3); });
  check_draw<float>("normal_(2, 3)", 123, {0x1.aa64acp+0, 0x1.2e3828p+1, 0x1.c83dccp-1, 0x1.475be8p+0},
                    [](RandomState& s, float* out) { normal(s, out, 4, 2, 3); });
  check_draw<int64_t>("randint(0, 10)", 0, {4, 9, 3, 0, 3, 9, 7, 3},
                      [](RandomState& s, int64_t* out) { randint(s, out, 8, 0, 10); });
  check_draw<int64_t>("randint(0, 10)", 123, {2, 9, 2, 0, 0, 2, 6, 7},
                      [](RandomState& s, int64_t* out) { randint(s, out, 8, 0, 10); });
  check_draw<int64_t>("randint(-5, 2**40)", 0, {741234585336, 506077272957, 291397093751, 841111833108},
                      [](RandomState& s, int64_t* out) { randint(s, out, 4, -5, int64_t{1} << 40); });
  check_draw<int64_t>("randint(-5, 2**40)", 123, {1093925388903, 542982144796, 947841103282, 990884957502},
                      [](RandomState& s, int64_t* out) { randint(s, out, 4, -5, int64_t{1} << 40); });
  check_draw<int64_t>("randperm(10)", 0, {4, 1, 7, 5, 3, 9, 0, 8, 6, 2},
                      [](RandomState& s, int64_t* out) { randperm(s, out, 10); });
  check_draw<int64_t>("randperm(10)", 123, {2, 0, 8, 1, 3, 7, 4, 9, 5, 6},
                      [](RandomState& s, int64_t* out) { randperm(s, out, 10); });
  check_draw<float>("bernoulli_(0.3)", 0, {0, 0, 0, 0, 0, 0, 1, 0, 0, 1, 0, 1},
                    [](RandomState& s, float* out) { bernoulli(s, out, 12, 0.3); });
  check_draw<float>("bernoulli_(0.3)", 123, {0, 1, 0, 1, 0, 0, 0, 0, 0, 1, 0, 1},
                    [](RandomState& s, float* out) { bernoulli(s, out, 12, 0.3); });
  check_draw<float>("dropout(ones, 0.5)", 0, {0, 0, 2, 0, 0, 0, 2, 2, 0, 2, 2, 2},
                    [](RandomState& s, float* out) { bernoulli_scaled(s, out, 12, 0.5, 2.0f); });
  check_draw<float>("dropout(ones, 0.5)", 123, {2, 2, 0, 2, 2, 0, 0, 0, 0, 2, 0, 2},
                    [](RandomState& s, float* out) { bernoulli_scaled(s, out, 12, 0.5, 2.0f); });
  check_draw<float>("exponential_(1)", 0, {0x1.c110d6p+1, 0x1.3afa7ep+0, 0x1.3ae71p-1, 0x1.447ec4p+1, 0x1.0923fep+0},
                    [](RandomState& s, float* out) { exponential(s, out, 5, 1); });
  check_draw<float>("exponential_(1)", 123, {0x1.d754ccp-2, 0x1.b8edc4p-7, 0x1.cab9d8p-1, 0x1.8e319p-4, 0x1.476e8cp-1},
                    [](RandomState& s, float* out) { exponential(s, out, 5, 1); });
  check_draw<double>(
      "exponential_(2), f64", 0,
      {0x1.c110d51dce0b1p+0, 0x1.3afa7ef3a5fc8p-1, 0x1.3ae70f39bed6dp-2, 0x1.447ec48a318b9p+0, 0x1.0923fdcf25fcbp-1},
      [](RandomState& s, double* out) { exponential(s, out, 5, 2); });
  check_draw<double>(
      "exponential_(2), f64", 123,
      {0x1.d754cbb17a5efp-3, 0x1.b8edc3d2f675ep-8, 0x1.cab9d817a5a4p-2, 0x1.8e31906edd464p-5, 0x1.476e8bbc4e5f2p-2},
      [](RandomState& s, double* out) { exponential(s, out, 5, 2); });
  check_draw<int64_t>("random_(), i64", 0,
                      {900450186894289455, 3969543146641149120, 1895649597198586619, 827948490035658087},
                      [](RandomState& s, int64_t* out) { random_full_range(s, out, 4); });
  check_draw<int64_t>("random_(), i64", 123,
                      {3624216819017203053, 5278339153051796802, 4184670734919783522, 946590342492863505},
                      [](RandomState& s, int64_t* out) { random_full_range(s, out, 4); });
  check_draw<float>("random_(), f32", 0, {0x1.fc288p+22, 0x1.89533p+23, 0x1.6a5bep+20, 0x1.0e5f4p+21},
                    [](RandomState& s, float* out) { random_full_range(s, out, 4); });
  check_draw<float>("random_(), f32", 123, {0x1.2f353p+22, 0x1.08796ep+23, 0x1.01b4d4p+22, 0x1.6089aap+23},
                    [](RandomState& s, float* out) { random_full_range(s, out, 4); });
  check_draw<uint8_t>("random_(), u8", 0, {172, 47, 117, 192},
                      [](RandomState& s, uint8_t* out) { random_full_range(s, out, 4); });
  check_draw<uint8_t>("random_(), u8", 123, {254, 109, 126, 66},
                      [](RandomState& s, uint8_t* out) { random_full_range(s, out, 4); });
  const std::vector<float> p(12, 0.3f), weights = {1, 2, 3, 4};
  check_draw<float>("bernoulli(tensor)", 0, {0, 0, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0},
                    [&](RandomState& s, float* out) { bernoulli_each(s, out, p.data(), 12); });
  check_draw<int64_t>("multinomial with replacement", 0, {3, 3, 2, 3, 3, 3, 1, 2},
                      [&](RandomState& s, int64_t* out) { multinomial(s, out, weights.data(), 1, 4, 8, true); });
  check_draw<int64_t>("multinomial without", 0, {2, 1, 3},
                      [&](RandomState& s, int64_t* out) { multinomial(s, out, weights.data(), 1, 4, 3, false); });
  check_draw<float>("bernoulli(tensor)", 123, {1, 0, 1, 0, 1, 0, 1, 1, 1, 0, 0, 0},
                    [&](RandomState& s, float* out) { bernoulli_each(s, out, p.data(), 12); });
  check_draw<int64_t>("multinomial with replacement", 123, {2, 0, 2, 0, 2, 2, 3, 2},
                      [&](RandomState& s, int64_t* out) { multinomial(s, out, weights.data(), 1, 4, 8, true); });
  check_draw<int64_t>("multinomial without", 123, {1, 3, 2},
                      [&](RandomState& s, int64_t* out) { multinomial(s, out, weights.data(), 1, 4, 3, false); });
}

TEST_CASE("normals of 16 and more are PyTorch's but for the last bit", "[random]") {
  check_close<float>(
      "randn(20), f32", 0,
      {-0x1.20370ap+0, -0x1.270114p+0, -0x1.0097acp-2, -0x1.bc4abap-2, 0x1.329b16p-1, -0x1.8e1ab6p+0, -0x1.5d8d94p-2,
       0x1.da5e9cp+0,  0x1.df54aap-2,  -0x1.42febep-3, 0x1.7193b6p+0,  0x1.106f42p-2, 0x1.63ad8p+0,   0x1.961ap+0,
       0x1.e48138p-1,  -0x1.aff666p-1, 0x1.dd186p-1,   0x1.424e6ep+0,  0x1.00a334p+1, 0x1.b83674p-5},
      1e-6, [](RandomState& s, float* out) { normal(s, out, 20, 0, 1); });
  check_close<double>(
      "randn(20), f64", 0,
      {-0x1.27bb92e9262dcp+1, -0x1.7e3579493946p-2, -0x1.0f91ae8d685b6p+0, 0x1.ffbfb0ada994bp-1, -0x1.471a3c0e2f22ap-6,
       0x1.aeb1b572b6a04p-3,  0x1.6ae2402b7b62bp-3, -0x1.a9389d082941dp-1, 0x1.e8e503666016dp-3, 0x1.779107c3069d9p-1,
       -0x1.5266d8f957969p+0, 0x1.50977a45ee462p+0, -0x1.5fbef2bc4be3bp-1, 0x1.7cf270386ca66p+0, -0x1.cb2d8340fb171p-2,
       -0x1.c8318cc163de5p-1, 0x1.5986ed8e63e98p-1, 0x1.0bff5e8d733a2p+0,  0x1.3bff1c51bd9a4p-3, -0x1.7ff1c81c48b11p-1},
      1e-14, [](RandomState& s, double* out) { normal(s, out, 20, 0, 1); });
  check_close<float>(
      "randn(20), f32", 123,
      {0x1.597792p-2,  -0x1.6c1676p-3, -0x1.36cffp-2,  -0x1.2d0fe4p-1, 0x1.94ba6cp+0,  0x1.4d10f4p+0, 0x1.467a24p+0,
       -0x1.9b8d4cp-3, -0x1.48d5aap-3, -0x1.9b1facp-2, 0x1.6435f4p-1,  -0x1.ce5978p+0, -0x1.28ab9p+0, 0x1.4d4846p-2,
       -0x1.4354acp-1, -0x1.6b84ecp+1, -0x1.91d84cp-1, -0x1.68d9bep+0, -0x1.a168fp-2,  0x1.9734fcp-1},
      1e-6, [](RandomState& s, float* out) { normal(s, out, 20, 0, 1); });
  check_close<double>("randn(20), f64", 123,
                      {0x1.d1cbbd4045fb5p-1,  0x1.3ae50c74206cep-3, 0x1.44c9c044671cep-1,  0x1.77588d51e69d6p-2,
                       -0x1.81dd3a24248a7p-1, 0x1.8ee328dc56a2bp-4, -0x1.088f59bb1056cp+0, 0x1.74c9245915d9ep-3,
                       -0x1.1312c5772bdb6p+0, 0x1.e78504dcfc5f2p-1, 0x1.ef00850bce3f9p+0,  -0x1.2567900bf8a2fp+0,
                       -0x1.01ed53d024c85p-3, 0x1.6b40fc98dad5p+0,  -0x1.1cfa04e5c9ddfp+0, 0x1.e892c80660ad9p-1,
                       0x1.6c2af11cbd1bcp-1,  0x1.b52bdeb8b4444p-2, 0x1.69bbad9776b58p+0,  -0x1.44301e3502718p-4},
                      1e-14, [](RandomState& s, double* out) { normal(s, out, 20, 0, 1); });
}

TEST_CASE("draws of different kinds share one stream, and small normals keep their second value", "[random]") {
  check_draw<float>("randn(3), rand(2), randn(3)", 0,
                    {1.5409960746765137f, -0.293428897857666f, -2.1787893772125244f, 0.455627977848053f,
                     0.6323062777519226f, 0.5684312582015991f, 0.1603812575340271f, -0.6064512133598328f},
                    [](RandomState& s, float* out) {
                      normal(s, out, 3, 0, 1);
                      uniform(s, out + 3, 2, 0, 1);
                      normal(s, out + 5, 3, 0, 1);
                    });
}

TEST_CASE("only the low half of a seed enters the stream", "[random]") {
  check_draw<float>("rand(2)", (uint64_t{1} << 40) + 5, {0.8302518725395203f, 0.12611091136932373f},
                    [](RandomState& s, float* out) { uniform(s, out, 2, 0, 1); });
}

TEST_CASE("one draw of many numbers is many draws of one", "[random]") {
  RandomState a, b;
  seed(a, 42);
  seed(b, 42);
  std::vector<float> whole(5000), parts(5000);
  uniform(a, whole.data(), 5000, 0, 1);
  for (int64_t i = 0, n = 1; i < 5000; i += n, n = std::min<int64_t>(n * 3, 5000 - i))
    uniform(b, parts.data() + i, n, 0, 1);
  CHECK(whole == parts);
  CHECK(next32(a) == next32(b));
}

TEST_CASE("multinomial of one sample draws an exponential for each weight", "[random]") {
  const std::vector<float> weights = {1, 2, 3, 4, 4, 3, 2, 1};
  RandomState s;
  seed(s, 0);
  int64_t one, six[6], four[4];
  multinomial(s, &one, weights.data(), 1, 4, 1, true);
  multinomial(s, six, weights.data(), 2, 4, 3, true);
  multinomial(s, four, weights.data(), 2, 4, 2, false);
  CHECK(one == 2);
  CHECK(std::vector<int64_t>(six, six + 6) == std::vector<int64_t>{3, 3, 1, 0, 1, 0});
  CHECK(std::vector<int64_t>(four, four + 4) == std::vector<int64_t>{1, 2, 0, 1});
  const float bad[] = {1, -1}, none[] = {0, 0};
  CHECK(std::string(multinomial_error(bad, 2, false)) ==
        "probability tensor contains either `inf`, `nan` or element < 0");
  CHECK(std::string(multinomial_error(none, 2, false)) ==
        "invalid multinomial distribution (sum of probabilities <= 0)");
  CHECK(multinomial_error(weights.data(), 8, true) == nullptr);
}

namespace {

/// An element of bernoulli_scaled is `scale` where its number of 53 bits is below p, and one more number is drawn for
/// each. The edges: p is one of the numbers drawn, or the number above it.
template <class T>
void check_bernoulli(T scale) {
  constexpr size_t kCount = 3001;
  RandomState stream;
  seed(stream, 7);
  std::vector<double> drawn(kCount);
  for (double& u : drawn) u = uniform53(stream);
  const uint32_t next = next32(stream);
  for (double p : {0.0, 1e-300, 0.3, drawn[5], std::nextafter(drawn[5], 1.0), 1 - 0x1p-53, 1.0}) {
    INFO("p = " << p << ", elements of " << sizeof(T) << " bytes");
    RandomState s;
    seed(s, 7);
    std::vector<T> expected(kCount);
    const std::unique_ptr<T[]> out(new T[kCount]);
    for (size_t i = 0; i < kCount; ++i) expected[i] = drawn[i] < p ? scale : T{0};
    bernoulli_scaled(s, out.get(), kCount, p, scale);
    CHECK(std::equal(expected.begin(), expected.end(), out.get()));
    CHECK(next32(s) == next);
  }
}

}  // namespace

TEST_CASE("Bernoulli draws compare 53 bits with p", "[random]") {
  check_bernoulli<float>(1.25f);
  check_bernoulli<double>(4.0 / 3);
  check_bernoulli<int64_t>(-3);
  check_bernoulli<int32_t>(1);
  check_bernoulli<int16_t>(-2);
  check_bernoulli<uint8_t>(255);
}
