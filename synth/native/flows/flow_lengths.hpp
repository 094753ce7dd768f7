// Lengths of arcs for the bound on multicommodity flows: the dual by multiplicative weights.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

namespace certree {

// Arcs out of node v: offset[v] .. offset[v + 1]; `head` and `kind` by arc. Arcs of one kind have one length, and `capacity` by
// kind is what they carry together: an arc of its own kind in general, all arcs of a generator where one source stands for all.
// `start`: lengths by kind to begin with, of up to 2^24; equal ones where it is empty.
struct LengthNetwork {
  std::vector<int32_t> offset, head, kind;
  std::vector<int64_t> capacity, start;
};

// What `source[i]` has for `target[i]`, sorted by source.
struct LengthDemand {
  std::vector<int32_t> source, target;
  std::vector<int64_t> amount;
};

// Lengths by kind whose bound, the sum of amount · distance over the sum of capacity · length, is the best of those met. In each of
// `passes` all sources in turn send along shortest paths, and arcs become longer by what they carried, in smaller steps from pass
// to pass (Garg and Koenemann). In whole numbers, so the same everywhere. An empty result when some target cannot be reached.
// `each_pass` is called before every pass, and may throw. Time O(passes · sources · arcs · log nodes), memory O(nodes + arcs).
std::vector<int64_t> flow_lengths(const LengthNetwork& network, const LengthDemand& demand, int32_t passes, int32_t first_parts,
                                  const std::function<void()>& each_pass);

}  // namespace certree
