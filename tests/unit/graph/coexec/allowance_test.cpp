// What may be spent on finding out whether co-execution pays, with times that are made up.
#include <catch2/catch.hpp>

#include "graph/coexec/allowance.h"

using terra::coexec::Allowance;

TEST_CASE("attempts that lead to nothing cost a small part of the time", "[allowance]") {
  Allowance allowance;
  double now = 0, lost = 0;
  int attempts = 0;
  while (now < 10e6) {
    if (!allowance.affords(now)) {
      now += 100;
      continue;
    }
    attempts++;
    while (!allowance.is_used_up(now)) {
      now += 100;
      lost += 100;
      allowance.spend(100);
    }
    allowance.failed();
  }
  CHECK(lost <= Allowance::share * now + 200);
  CHECK(attempts > 3);
  CHECK(attempts < 15);
}

TEST_CASE("a program begins on its own", "[allowance]") {
  const Allowance allowance;
  CHECK(!allowance.affords(0));
  CHECK(allowance.affords(Allowance::first_price / Allowance::share));
}

TEST_CASE("what an attempt saves makes up for what it has cost, and for nothing later", "[allowance]") {
  Allowance allowance;
  const double now = 1e6;
  allowance.spend(Allowance::share * now + 1);
  CHECK(allowance.is_used_up(now));
  allowance.spend(-1e9);
  CHECK(!allowance.is_used_up(now));
  allowance.spend(Allowance::share * now + 1);
  CHECK(allowance.is_used_up(now));
}
