#include "engine/ops/signature.h"

#include <catch2/catch.hpp>

#include "engine/errors/errors.h"

using namespace terra;

TEST_CASE("a signature names types, defaults and keyword-only parameters") {
  const Signature s = parse_signature(
      "(Tensor self, Tensor|Number other, *, Number alpha=1, int[]? dim=None, int[2] stride=1, float eps=1e-05, "
      "str reduction='mean', bool keepdim=False, Generator? generator=None) -> (Tensor values, Tensor indices)");
  REQUIRE(s.params.size() == 9);
  CHECK(s.params[1].type == ParamType::TensorOrNumber);
  CHECK_FALSE(s.params[1].keyword_only);
  CHECK(s.params[2].keyword_only);
  CHECK(s.params[2].default_value.scalar().kind() == Scalar::Kind::Int);
  CHECK(s.params[3].optional);
  CHECK(s.params[3].default_value.is_none());
  CHECK(s.params[4].list_length == 2);
  CHECK(s.params[4].default_value.ints().size() == 2);
  CHECK(s.params[4].default_value.ints()[1] == 1);
  CHECK(s.params[5].default_value.scalar().to_double() == 1e-5);
  CHECK(s.params[6].default_value.text() == "mean");
  CHECK(s.find("keepdim") == 7);
  CHECK(s.find("nothing") == -1);
  CHECK(s.result_names == std::vector<std::string>{"values", "indices"});
}

TEST_CASE("defaults survive moving the signature") {
  std::vector<Signature> list;
  for (int i = 0; i < 20; ++i) list.push_back(parse_signature("(str mode='abc', int[] pad=[1, 2, 3]) -> Tensor"));
  for (const Signature& s : list) {
    CHECK(s.params[0].default_value.text() == "abc");
    CHECK(s.params[1].default_value.ints()[2] == 3);
  }
}

TEST_CASE("a list result and varargs") {
  const Signature s = parse_signature("(Tensor self, int[] *size) -> Tensor[]");
  CHECK(s.result_is_list);
  CHECK(s.params[1].varargs);
}

TEST_CASE("a mistake in a record is told with its text") {
  CHECK_THROWS_AS(parse_signature("(Tenser self) -> Tensor"), InternalError);
  CHECK_THROWS_AS(parse_signature("(Tensor self -> Tensor"), InternalError);
  CHECK_THROWS_AS(parse_signature("(Tensor self) -> Tensor extra"), InternalError);
}
