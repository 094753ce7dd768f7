// A unit test is a function that is listed by its name; `check` counts what does not hold and goes on.
#pragma once

#include <cstdio>
#include <functional>
#include <string>
#include <vector>

namespace certree::testing {

struct Test {
  std::string name;
  std::function<void()> body;
};

inline std::vector<Test>& tests() {
  static std::vector<Test> all;
  return all;
}

inline int& failures() {
  static int count = 0;
  return count;
}

struct Listed {
  Listed(const char* name, std::function<void()> body) { tests().push_back({name, std::move(body)}); }
};

inline void check(bool holds, const char* what, const char* file, int line) {
  if (holds) return;
  ++failures();
  std::printf("%s:%d: does not hold: %s\n", file, line, what);
}

template <class Error>
void check_throws(const std::function<void()>& body, const std::string& part, const char* file, int line) {
  try {
    body();
  } catch (const Error& error) {
    const std::string message = error.what();
    check(message.find(part) != std::string::npos, ("message is: " + message).c_str(), file, line);
    return;
  }
  check(false, ("nothing thrown that says: " + part).c_str(), file, line);
}

}  // namespace certree::testing

#define TEST(name)                                                  \
  static void name();                                               \
  static const certree::testing::Listed listed_##name(#name, name); \
  static void name()
#define CHECK(...) certree::testing::check((__VA_ARGS__), #__VA_ARGS__, __FILE__, __LINE__)
#define CHECK_THROWS(error, part, ...) certree::testing::check_throws<error>([&] { __VA_ARGS__; }, part, __FILE__, __LINE__)
