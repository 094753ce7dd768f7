#include "fine_gates.hpp"

#include <algorithm>

#include "fine_circles.hpp"

namespace certree {
namespace {

constexpr int32_t none = -1;

// Gates while they are collected. Gate i opens when all of fed[fed_begin[i]] .. fed[fed_begin[i + 1]] have been sent or have
// landed.
class Collected {
 public:
  explicit Collected(const CellUses& uses) : uses_(uses), rows_(uses.copies.size()) {
    read_gate_.assign(rows_, none);
    original_of_.assign(rows_, none);
    follows_.assign(rows_, none);
    for (size_t cell = 0; cell + 1 < uses.begin.size(); ++cell) add(uses.begin[cell], uses.begin[cell + 1]);
    for (size_t reader = 0; reader < rows_;
         ++reader) {  // it waits for what the copy waits for; booking has it wait for the copy too
      if (original_of_[reader] != none) wait(static_cast<int32_t>(reader), read_gate_[original_of_[reader]]);
    }
  }

  Gates grouped_gates();

 private:
  int32_t count() const { return static_cast<int32_t>(is_landing_.size()); }

  int32_t make(const std::vector<int32_t>& rows, bool is_landing) {
    is_landing_.push_back(is_landing);
    fed_.insert(fed_.end(), rows.begin(), rows.end());
    fed_begin_.push_back(static_cast<int32_t>(fed_.size()));
    return count() - 1;
  }

  void wait(int32_t row, int32_t gate) {
    if (gate == none) return;
    waited_.push_back(gate);
    waiting_.push_back(row);
  }

  void add(int32_t first, int32_t last);
  std::vector<int32_t> circles() const;
  void split(int32_t gate, const std::vector<uint8_t>& inside, std::vector<uint8_t>& is_removed, const Ragged& opens);

  const CellUses& uses_;
  size_t rows_;
  std::vector<uint8_t> is_landing_;                         // by gate
  std::vector<int32_t> fed_begin_{0}, fed_;                 // by gate
  std::vector<int32_t> waited_, waiting_;                   // gate and row of each wait
  std::vector<int32_t> read_gate_, original_of_, follows_;  // by row
};

// The gates of one cell, whose uses are `first` to `last`.
void Collected::add(int32_t first, int32_t last) {
  int32_t read_gate = none, write_gate = none, original = none;
  std::vector<int32_t> read, written;
  const auto& [begin, rows, writes, copies, local, in_order] = uses_;
  for (int32_t use = first; use < last; ++use) {
    const int32_t row = rows[use];
    if (!writes[use]) {
      if (!written.empty()) {
        read_gate = make(written, true);
        read.clear();
        original = written.size() == 1 && copies[written[0]] && local[written[0]] ? written[0] : none;
        written.clear();
      }
      read.push_back(row);
      read_gate_[row] = read_gate;
      if (original != none && !local[row]) {
        original_of_[row] = original;
      } else {
        wait(row, read_gate);
      }
      continue;
    }
    if (!read.empty()) {
      write_gate = make(read, false);
      read.clear();
    } else if (!written.empty()) {
      const int32_t before = written.back();
      if (in_order && !(copies[row] || copies[before] || local[row] || local[before])) {
        follows_[row] = before;
      } else if (in_order || copies[row] || copies[before]) {
        write_gate = make(written, true);
        written.clear();
      }
    }
    wait(row, write_gate);
    written.push_back(row);
  }
}

// By row, and by gate numbered after the rows, the number of its strongly connected component.
std::vector<int32_t> Collected::circles() const {
  const auto rows = static_cast<int32_t>(rows_);
  std::vector<int32_t> tail, head;
  const auto edge = [&](int32_t from, int32_t to) {
    tail.push_back(from);
    head.push_back(to);
  };
  for (int32_t gate = 0; gate < count(); ++gate) {
    for (int32_t at = fed_begin_[gate]; at < fed_begin_[gate + 1]; ++at) edge(fed_[at], rows + gate);
  }
  for (size_t at = 0; at < waited_.size(); ++at) edge(rows + waited_[at], waiting_[at]);
  for (int32_t row = 0; row < rows; ++row) {
    if (original_of_[row] != none) edge(original_of_[row], row);
  }
  return strong_parts(rows + count(), tail, head);
}

// Give the rows of a group a gate of their own, which opens without them.
void Collected::split(int32_t gate, const std::vector<uint8_t>& inside, std::vector<uint8_t>& is_removed, const Ragged& opens) {
  std::vector<int32_t> outside, own;
  for (int32_t at = fed_begin_[gate]; at < fed_begin_[gate + 1]; ++at) {
    if (!inside[fed_[at]]) outside.push_back(fed_[at]);
  }
  for (int32_t at = opens.offset[gate]; at < opens.offset[gate + 1]; ++at) {
    const int32_t wait = opens.value[at];
    if (!inside[waiting_[wait]]) continue;
    own.push_back(waiting_[wait]);
    is_removed[wait] = 1;
  }
  if (outside.empty() || own.empty()) return;
  const int32_t made = make(outside, is_landing_[gate]);
  for (const int32_t row : own) wait(row, made);
}

// With rows that wait for each other joined in groups: inside a group nothing waits for what the group does.
Gates Collected::grouped_gates() {
  const auto part = circles();
  const auto rows = static_cast<int32_t>(rows_), gates = count();
  std::vector<int32_t> size(part.size(), 0), circle_of(part.size(), none), circle, node;
  for (const int32_t one : part) ++size[one];
  int32_t found = 0;  // circles, in the order of their first nodes
  for (int32_t one = 0; one < rows + gates; ++one) {
    if (size[part[one]] < 2) continue;
    if (circle_of[part[one]] == none) circle_of[part[one]] = found++;
    circle.push_back(circle_of[part[one]]);
    node.push_back(one);
  }
  const Ragged circles = grouped(static_cast<size_t>(found), circle, node);

  std::vector<int32_t> number(waited_.size());
  for (size_t at = 0; at < number.size(); ++at) number[at] = static_cast<int32_t>(at);
  const Ragged opens = grouped(static_cast<size_t>(gates), waited_, number);
  std::vector<uint8_t> inside(rows_, 0), is_removed(waited_.size(), 0);
  Gates done;
  done.groups.offset.push_back(0);
  done.group.assign(rows_, none);
  for (int32_t one = 0; one < found; ++one) {
    const auto first = done.groups.value.size();
    for (const int32_t* at = circles.begin(one); at != circles.end(one) && *at < rows; ++at) {
      done.group[*at] = one;
      inside[*at] = 1;
      done.groups.value.push_back(*at);
    }
    for (const int32_t* at = circles.begin(one); at != circles.end(one); ++at) {
      if (*at >= rows) split(*at - rows, inside, is_removed, opens);
    }
    for (size_t at = first; at < done.groups.value.size(); ++at) inside[done.groups.value[at]] = 0;
    done.groups.offset.push_back(static_cast<int32_t>(done.groups.value.size()));
  }

  std::vector<int32_t> events[2][2];  // of rows that are sent, and that land: row, gate
  for (int32_t gate = 0; gate < count(); ++gate) {
    done.needs.push_back(fed_begin_[gate + 1] - fed_begin_[gate]);
    for (int32_t at = fed_begin_[gate]; at < fed_begin_[gate + 1]; ++at) {
      events[is_landing_[gate]][0].push_back(fed_[at]);
      events[is_landing_[gate]][1].push_back(gate);
    }
  }
  done.when_sent = grouped(rows_, events[0][0], events[0][1]);
  done.when_landed = grouped(rows_, events[1][0], events[1][1]);
  std::vector<int32_t> gate, row;
  for (size_t at = 0; at < waited_.size(); ++at) {
    if (at < is_removed.size() && is_removed[at]) continue;
    gate.push_back(waited_[at]);
    row.push_back(waiting_[at]);
  }
  done.opens = grouped(static_cast<size_t>(count()), gate, row);
  done.original_of = original_of_;
  done.follows = follows_;
  return done;
}

}  // namespace

Gates gates_of(const CellUses& uses) { return Collected(uses).grouped_gates(); }

}  // namespace certree
