// How much every unit knows of what other nodes have sent.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace certree {

// By unit, in the order in which they fire: its node, its place among the units of that node, and which entries of `arrivals`, low
// to high, it waits for; these are units, each of which fires before.
struct Units {
  std::vector<int64_t> source, place, low, high, arrivals;
};

// By unit and node, how many units of the node have fired, as the unit knows when it fires, itself included: what the last unit of
// its own node knew, and all that it waits for. O((units + arrivals waited for) · nodes).
std::vector<int32_t> known_units(const Units& units, size_t nodes);

}  // namespace certree
