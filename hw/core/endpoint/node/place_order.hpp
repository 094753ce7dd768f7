// In which order the cells of a node's memory are read and written, where nothing else keeps it.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <utility>
#include <vector>

#include "interface/message.hpp"

namespace certree::endpoint {

// How often the cell of a message has been read by rows, and written, in its iteration, before the message may be taken.
struct Uses {
  std::uint32_t reads = 0, writes = 0;
};

// A message that comes while its cell still has an earlier use waits at the ports, which have room for all of them. With uses as
// the slots of the tables have them each row reads what it reads in slots, at any timing. Nothing stalls: of all rows and messages
// that have not been, take the first in the order of slots; all uses before it have been. O(1) for each use of a cell.
class PlaceOrder {
 public:
  // Something that waits; `is_local`: it comes from another cell of the node.
  struct Held {
    MessageId id;
    bool is_local;
  };

  explicit PlaceOrder(const std::vector<Uses>& needs) : needs_(needs) {}

  bool admits(const Message& message) const {
    if (needs_.empty()) return true;
    const Uses need = needs_[message.index];
    if (need.reads == 0 && need.writes == 0) return true;
    const auto found = used_.find(key(message.cell, message.iteration));
    return found != used_.end() && need.reads <= found->second.reads && need.writes <= found->second.writes;
  }
  void hold(const Message& message, Held held) {
    held_[key(message.cell, message.iteration)].emplace_back(message, held);
    ++count_;
  }
  void note_read(std::uint64_t cell, std::uint32_t iteration) {
    if (!needs_.empty()) ++used_[key(cell, iteration)].reads;
  }
  void note_written(std::uint64_t cell, std::uint32_t iteration) {
    if (!needs_.empty()) ++used_[key(cell, iteration)].writes;
  }
  // Those that wait for a cell and may now be taken, in the order in which they came.
  std::vector<std::pair<Message, Held>> released(std::uint64_t cell, std::uint32_t iteration) {
    std::vector<std::pair<Message, Held>> found, kept;
    const auto waiting = held_.find(key(cell, iteration));
    if (waiting == held_.end()) return found;
    for (auto& one : waiting->second) (admits(one.first) ? found : kept).push_back(std::move(one));
    if (kept.empty()) {
      held_.erase(waiting);
    } else {
      waiting->second = std::move(kept);
    }
    return found;
  }
  std::uint64_t count() const { return count_; }  // of messages that have waited

 private:
  static std::uint64_t key(std::uint64_t cell, std::uint32_t iteration) { return std::uint64_t{iteration} << 32 | cell; }

  const std::vector<Uses>& needs_;
  std::unordered_map<std::uint64_t, Uses> used_;
  std::unordered_map<std::uint64_t, std::vector<std::pair<Message, Held>>> held_;
  std::uint64_t count_ = 0;
};

}  // namespace certree::endpoint
