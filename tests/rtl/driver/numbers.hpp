// Named lists of whole numbers, and bits of pins.
#pragma once

#include <cstdint>
#include <cstring>
#include <fstream>
#include <map>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

using Bits = std::vector<uint8_t>;  // bytes, the lowest first

// What a file of lines `NAME number number …` says.
class Numbers {
 public:
  explicit Numbers(const std::string& path) {
    std::ifstream file(path);
    if (!file) throw std::runtime_error("cannot read " + path);
    for (std::string line; std::getline(file, line);) {
      std::istringstream words(line);
      std::string name;
      words >> name;
      for (int64_t value; words >> value;) values_[name].push_back(value);
    }
  }
  int64_t operator[](const std::string& name) const { return list(name).at(0); }
  const std::vector<int64_t>& list(const std::string& name) const { return values_.at(name); }

 private:
  std::map<std::string, std::vector<int64_t>> values_;
};

// Bits `low` to `low + width - 1` of a pin, width at most 64.
template <class Pin>
uint64_t get(const Pin& pin, int64_t low, int64_t width) {
  const auto* bytes = reinterpret_cast<const uint8_t*>(&pin);
  uint64_t value = 0;
  for (int64_t i = 0; i < width; i++) value |= uint64_t(bytes[(low + i) / 8] >> (low + i) % 8 & 1) << i;
  return value;
}

template <class Pin>
void set(Pin& pin, int64_t low, int64_t width, uint64_t value) {
  auto* bytes = reinterpret_cast<uint8_t*>(&pin);
  for (int64_t i = 0; i < width; i++) {
    const uint8_t mask = uint8_t(1 << (low + i) % 8);
    bytes[(low + i) / 8] = uint8_t((bytes[(low + i) / 8] & ~mask) | (value >> i & 1 ? mask : 0));
  }
}

template <class Pin>
Bits slice(const Pin& pin, int64_t low, int64_t width) {
  Bits found((width + 7) / 8);
  if (low % 8 == 0 && width % 8 == 0) {
    std::memcpy(found.data(), reinterpret_cast<const uint8_t*>(&pin) + low / 8, found.size());
  } else {
    for (int64_t i = 0; i < width; i += 8) found[i / 8] = uint8_t(get(pin, low + i, std::min<int64_t>(8, width - i)));
  }
  return found;
}

template <class Pin>
void put(Pin& pin, int64_t low, int64_t width, const Bits& value) {
  if (low % 8 == 0 && width % 8 == 0) {
    std::memcpy(reinterpret_cast<uint8_t*>(&pin) + low / 8, value.data(), value.size());
  } else {
    for (int64_t i = 0; i < width; i += 8) set(pin, low + i, std::min<int64_t>(8, width - i), value[i / 8]);
  }
}
