// Decides which row of a node is next and when: the part in which slotted and paced runs differ.
#pragma once

#include <optional>
#include <vector>

#include "common/program.hpp"
#include "common/types.hpp"

namespace certree {

struct Firing {
  RowId row;
  std::uint32_t iteration = 0;
};

// What the counters can see of the node's units at the start of a cycle.
struct UnitState {
  bool are_idle;  // no flit waits outside the injection buffers, and the reduction unit has nothing to do
};

// In a cycle in which something may change: `begin_cycle`, then `head` and `pop` for as long as rows fire. Virtual calls are spent
// on such events only, never on a flit.
class Sequencer {
 public:
  virtual ~Sequencer() = default;
  virtual void begin_cycle(Cycle now, UnitState units) = 0;
  // The row that may fire now if its dependencies hold.
  virtual std::optional<Firing> head(Cycle now) = 0;
  // The head fired; returns whether that was after the opening of its slot.
  virtual bool pop(Cycle now) = 0;
  // The next time at which this changes by itself; kNever when only events from outside can change it.
  virtual Cycle wake(Cycle now, UnitState units) const = 0;
  // Whether an arrival or an idle unit can change what happens before that time.
  virtual bool is_listening(Cycle now) const = 0;
  // The row that has not fired yet and is next in order, for reports.
  virtual std::optional<Firing> pending() const = 0;
};

}  // namespace certree
