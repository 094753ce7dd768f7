// Counts arrivals. Each has a counter for every iteration modulo `in_flight`, which goes on counting: where an iteration brings n
// arrivals, one that waits for the first `need` of iteration i waits until it has counted to i div in_flight · n + need. Counters
// count in the order of iterations: an arrival that has overtaken those of an earlier one counts once these have.
#pragma once

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "common/program.hpp"
#include "common/types.hpp"

namespace certree {

class Scoreboard {
 public:
  explicit Scoreboard(const Program& program)
      : program_(program), counts_(std::size_t{program.arrival_begin.back()} * program.in_flight) {}
  void count(ArrivalId arrival, std::uint32_t iteration) {
    const std::size_t at = place(arrival, iteration);
    const std::uint64_t each = program_.arrival_count[arrival.value];
    if (counts_[at] < iteration / program_.in_flight * each) {
      ++early_[{at, iteration / program_.in_flight}];
      return;
    }
    ++counts_[at];
    while (!early_.empty() && counts_[at] % each == 0) {
      const auto next = early_.find({at, counts_[at] / each});
      if (next == early_.end()) return;
      counts_[at] += next->second;
      early_.erase(next);
    }
  }
  bool has(ArrivalId arrival, std::uint32_t iteration, std::uint32_t need) const {
    const std::uint64_t before = std::uint64_t{iteration / program_.in_flight} * program_.arrival_count[arrival.value];
    return counts_[place(arrival, iteration)] >= before + need;
  }
  // Whether everything of all iterations has counted.
  bool is_over(ArrivalId arrival) const {
    for (std::uint32_t back = 0; back < std::min(program_.in_flight, program_.repeats); ++back) {
      if (!has(arrival, program_.repeats - 1 - back, program_.arrival_count[arrival.value])) return false;
    }
    return true;
  }

 private:
  std::size_t place(ArrivalId arrival, std::uint32_t iteration) const {
    return std::size_t{arrival.value} * program_.in_flight + iteration % program_.in_flight;
  }

  const Program& program_;
  std::vector<std::uint64_t> counts_;
  std::map<std::pair<std::size_t, std::uint64_t>, std::uint64_t> early_;  // (counter, turn) -> arrivals that do not yet count
};

}  // namespace certree
