// The table of rules, and that of reasons.
#include <catch2/catch.hpp>

#include "interpreter_hooks/entry/reasons.h"
#include "interpreter_hooks/entry/speculation.h"
#include "interpreter_hooks/recorder/opcodes/rules.h"

using namespace terra::capture;

TEST_CASE("every kind of instruction has a name and a rule") {
  for (int kind = TERRA_UNKNOWN + 1; kind < TERRA_KIND_COUNT; kind++) {
    INFO(kind);
    REQUIRE(rules_of(kind).name);
    INFO(rules_of(kind).name);
    CHECK(rules_of(kind).rule);
    CHECK(rules_of(kind).next != Next::None);
  }
  for (const int none : {TERRA_NOTHING, TERRA_UNKNOWN}) CHECK_FALSE(rules_of(none).rule);
}

TEST_CASE("every reason has a sentence, a hint and an example") {
  for (int number = 0; number < static_cast<int>(Reason::Count_); number++) {
    INFO(number);
    const ReasonText& reason = reason_text(static_cast<Reason>(number));
    REQUIRE(reason.text);
    CHECK(*reason.text);
    REQUIRE(reason.hint);
    CHECK(*reason.hint);
    CHECK(*reason.example);
  }
}

TEST_CASE("a number that is relaxed takes its kin below the same root with it") {
  Speculation speculation;
  CHECK(speculation.relax("self.layers[0].count"));
  CHECK_FALSE(speculation.relax("self.layers[0].count"));
  CHECK(speculation.relaxed("self.layers[7].count"));
  CHECK_FALSE(speculation.relaxed("self.layers[0].size"));
  CHECK_FALSE(speculation.relaxed("other.count"));
  CHECK(speculation.relax("o.sizes[1]"));
  CHECK(speculation.relaxed("o.sizes[4]"));
  CHECK_FALSE(speculation.relaxed("o.limits[1]"));
}
