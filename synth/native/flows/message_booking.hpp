// List scheduling in cycles of messages that differ in length: each leaves as soon as its data is there and its links are free.
#pragma once

#include <cstdint>
#include <vector>

namespace certree {

// Messages, one row each. A row enters link `link[i]` `after[i]` cycles after it fires, for i in offset[row] .. offset[row + 1],
// and holds a lane of it for `length` cycles. It fires when the row `before` has landed, `flight` cycles after that has fired (-1:
// from the start). Of rows that can fire, the one of the lowest `priority` goes first.
struct Messages {
  std::vector<int32_t> offset, link;
  std::vector<int64_t> after, length, flight;
  std::vector<int32_t> before;
  std::vector<int64_t> priority;
};

// By row the cycle in which it fires, and by entry of `Messages::link` the lane of that link which it holds.
struct BookedMessages {
  explicit BookedMessages(const Messages& messages) : fire(messages.before.size()), lane(messages.link.size()) {}
  std::vector<int64_t> fire;
  std::vector<int32_t> lane;
};

// All rows fire in a multiple of `slot`. `lanes`: of each link. A row books its links when its data is there, for
// later where they are taken, gaps between other bookings included; or, `patient`, only when all of them are free for good, so that
// rows of a lower priority may come first. Time O(rows · hops · messages of a lane) or, patient, about O(rows · hops · log rows);
// memory O(rows + hops).
BookedMessages book_messages(const Messages& messages, const std::vector<int32_t>& lanes, int64_t slot, bool patient);

}  // namespace certree
