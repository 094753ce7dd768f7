// Puts payloads behind headers again and sends them (NetReduce, Fig. 21): sums up, results down, one copy for each child.
#pragma once

#include <optional>
#include <vector>

#include "reducing/switch/header_buffer.hpp"
#include "reducing/switch/state_manager.hpp"

namespace certree {

class Combinator {
 public:
  explicit Combinator(std::optional<EdgeId> above) : above_(above) {}

  // Appends what answers the packet with header `asking`. O(packets).
  void combine(Answer answer, std::uint32_t place, std::uint64_t value, const Header& asking, const HeaderBuffer& headers,
               std::vector<AggregationPacket>& out) const {
    switch (answer) {
      case Answer::kNothing:
        break;
      case Answer::kUp:
        out.push_back({*above_, true, asking.number, value});
        break;
      case Answer::kOne:
        out.push_back({asking.edge, false, asking.number, value});
        break;
      case Answer::kAll:
        for (std::uint32_t child = 0; child < headers.children(); ++child) {
          const Header& header = headers.header(place, child);
          out.push_back({header.edge, false, header.number, value});
        }
    }
  }

 private:
  std::optional<EdgeId> above_;
};

}  // namespace certree
