// The order in which a schedule adds: what each cell holds, as an expression over ranks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace certree {

// Transfers by row: cell (node · chunks + chunk) · buffers + buffer is what they read and write; `op`: 0 where they add; `step`:
// when they leave. `lands`: when what they carry can be used, and `comes`: when it comes to the node, by which operands have their
// order; empty where that is `delay` steps after they leave, and when they leave. `leaving`, `landing`: the rows in the order of
// `step`, and in that of (`lands`, `comes`, row); empty where they are in that order. Without buffers these columns are empty.
struct CarriedRows {
  std::span<const int32_t> src, dst, chunk, src_buffer, dst_buffer, step;
  std::span<const int8_t> op;
  std::span<const int64_t> lands, comes, leaving, landing;
  int64_t chunks, buffers, delay;

  int64_t source(size_t row) const { return cell(src[row], chunk[row], src_buffer, row); }
  int64_t target(size_t row) const { return cell(dst[row], chunk[row], dst_buffer, row); }
  int64_t landed(size_t row) const { return lands.empty() ? step[row] + delay : lands[row]; }
  int64_t came(size_t row) const { return comes.empty() ? step[row] : comes[row]; }

 private:
  int64_t cell(int64_t node, int64_t chunk_, std::span<const int32_t> buffer, size_t row) const {
    return (node * chunks + chunk_) * buffers + (buffer.empty() ? 0 : buffer[row]);
  }
};

// Expressions have numbers: a rank is one of its own, a sum is `ranks` + i, of expressions `left[i]` and `right[i]`; equal sums
// have one number, and the operands of a sum have no order. `held`: by cell its expression at the end, or -1. `tied`: a row whose
// operand comes to a cell less than `apart` after another one, so that only a stated order of arrivals that come together fixes
// which is added first; -1 where there is none. `ties`: how many there are.
struct AddedUp {
  std::vector<int32_t> held, left, right;
  int64_t tied = -1, ties = 0;
};

// `held`: what the cells hold at the start. Time O(rows), memory O(rows + cells).
AddedUp add_up(const CarriedRows& rows, std::vector<int32_t> held, int32_t ranks, int64_t apart);

}  // namespace certree
