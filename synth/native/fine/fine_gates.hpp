// What has to wait until something has been sent, and until something has landed: see certree.synth.fine.order.
#pragma once

#include <cstdint>
#include <vector>

#include "fine/fine_booking.hpp"

namespace certree {

// The reads and writes of cells: those of cell i are at begin[i] .. begin[i + 1], in their order. `row`: who reads or writes.
// By row: whether it `copies`, else it adds, and whether it is `local`. `in_order`: what is added lands in the order of rows.
struct CellUses {
  std::vector<int32_t> begin, row;
  std::vector<uint8_t> writes;
  std::vector<uint8_t> copies, local;
  bool in_order;
};

// As Order of certree.models.fine.list_jobs.
struct Gates {
  std::vector<int32_t> needs;
  Ragged when_sent, when_landed, opens;
  std::vector<int32_t> original_of;
  Ragged groups;
  std::vector<int32_t> group, follows;
};

// The gates of some uses of cells; rows that wait for each other to be sent are groups. O(rows + uses).
Gates gates_of(const CellUses& uses);

}  // namespace certree
