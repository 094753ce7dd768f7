// Choices that come from Python as names or numbers: an unknown one is refused, never taken for a default.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <stdexcept>
#include <string>
#include <string_view>

namespace certree {

template <class Value>
struct Choice {
  std::string_view name;
  Value value;
};

// The value called `name`. Throws std::invalid_argument naming `what` and what is allowed.
template <class Value>
Value chosen(const char* what, std::string_view name, std::initializer_list<Choice<Value>> allowed) {
  std::string names;
  for (const Choice<Value>& choice : allowed) {
    if (choice.name == name) return choice.value;
    names += (names.empty() ? "" : ", ") + std::string(choice.name);
  }
  throw std::invalid_argument("unknown " + std::string(what) + " '" + std::string(name) + "'; allowed: " + names);
}

// The value whose number is `number`, of those that `allowed` names from 0 on. Throws std::invalid_argument as above.
template <class Value>
Value numbered(const char* what, std::uint64_t number, std::initializer_list<std::string_view> allowed) {
  if (number < allowed.size()) return static_cast<Value>(number);
  std::string names;
  for (const std::string_view& name : allowed) {
    names += (names.empty() ? "" : ", ") + std::to_string(&name - allowed.begin()) + " (" + std::string(name) + ")";
  }
  throw std::invalid_argument("unknown " + std::string(what) + " " + std::to_string(number) + "; allowed: " + names);
}

}  // namespace certree
