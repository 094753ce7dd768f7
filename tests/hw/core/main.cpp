#include "check.hpp"

int main() {
  for (const certree::testing::Test& test : certree::testing::tests()) {
    const int before = certree::testing::failures();
    test.body();
    if (certree::testing::failures() != before) std::printf("FAILED %s\n", test.name.c_str());
  }
  std::printf("%zu tests, %d failures\n", certree::testing::tests().size(), certree::testing::failures());
  return certree::testing::failures() == 0 ? 0 : 1;
}
