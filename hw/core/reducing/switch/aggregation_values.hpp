// The sums of the places (NetReduce, Fig. 21: Aggregation Value). Where the result is known, it stands in place of the sum.
#pragma once

#include <cstdint>
#include <vector>

namespace certree {

class AggregationValues {
 public:
  explicit AggregationValues(std::uint32_t places) : values_(places) {}

  void clear(std::uint32_t place) { values_[place] = 0; }
  void add(std::uint32_t place, std::uint64_t value) { values_[place] += value; }  // modulo 2^64
  void put(std::uint32_t place, std::uint64_t value) { values_[place] = value; }
  std::uint64_t operator[](std::uint32_t place) const { return values_[place]; }

 private:
  std::vector<std::uint64_t> values_;
};

}  // namespace certree
