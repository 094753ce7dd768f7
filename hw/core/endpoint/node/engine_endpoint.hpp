// An endpoint with ACE's engine: iterations of the tables are its chunks.
#pragma once

#include <deque>
#include <map>
#include <vector>

#include "endpoint/node/dma_endpoint.hpp"
#include "endpoint/units/crossbar.hpp"
#include "endpoint/units/sram.hpp"

namespace certree::endpoint {

// What an iteration did at a node: it was asked for, came whole, moved to the results, and was back in memory.
enum class IterationStep : std::uint8_t { kLoad, kLoaded, kGoneOn, kReturned };

struct IterationRecord {
  Cycle when;
  std::uint32_t node;
  std::uint32_t iteration;
  IterationStep step;
};

// The TX DMA loads an iteration when the first partition of the SRAM has room. State machines take iterations in turn; one that has
// none before it is at work: its rows may fire, and what has come for it is taken. When all its rows have fired and all its
// arrivals have been taken it moves to the partition of results, in the order of loading, and the RX DMA brings it back to memory.
// A message that comes before its iteration is at work waits at the ports, which have room for all of them and keep no order.
class EngineEndpoint final : public DmaEndpoint {
 public:
  EngineEndpoint(const Parameters& parameters, const RunColumns& columns, const Program& program, std::uint32_t node,
                 Collectives* collectives);

  bool lets_fire(const Firing& firing) const override { return is_at_work(firing.iteration); }
  std::uint64_t returns() const override { return program_.repeats; }

  const std::vector<IterationRecord>& steps() const { return steps_; }
  const Crossbar& crossbar() const { return crossbar_; }
  const Sram& sram() const { return sram_; }
  std::uint32_t waiting_peak() const { return waiting_peak_; }  // messages at the ports, at most
  std::uint64_t waited() const { return waited_; }              // messages that waited there
  std::uint64_t forwarded() const { return forwarded_; }        // messages from an ALU or a port, not out of a bank

 private:
  struct Iteration {
    std::uint64_t rows_left, arrivals_left;
    bool is_loaded = false;
    Cycle loaded;
  };
  struct Arrival {
    MessageId id;
    Cycle head, tail;
    std::uint64_t bytes, cell;
    std::uint32_t iteration;
    bool adds;
    bool is_local = false;  // it comes from another cell of the node
  };
  // Of a message that is being taken.
  struct Taken {
    std::uint64_t cell;
    std::uint32_t iteration;
    bool is_alone;  // when it was taken, no other was on its way to its cell
  };

  void note(Cycle now, std::uint64_t place, IterationStep step) {
    if (columns_.traced) steps_.push_back({now, node_, iterations_.at(place), step});
  }
  bool place_is_at_work(std::uint64_t place) const {
    return gone_on_ <= place && place < iterations_.begun() && place < gone_on_ + machines_ && work_[place - gone_on_].is_loaded;
  }
  bool is_at_work(std::uint32_t iteration) const { return place_is_at_work(iterations_.place_of(iteration)); }
  Iteration& work_on(std::uint32_t iteration) { return work_[iterations_.place_of(iteration) - gone_on_]; }
  void fired(const Firing& firing, Cycle now) override;
  void bring(MessageId id, const certree::Message& message, Cycle now) override;
  void move_within(MessageId id, const certree::Message& message, Cycle now) override;
  void take_in(MessageId id, const certree::Message& message, Cycle now) override;
  void load(Cycle now);
  void take(const Arrival& arrival, Cycle now);
  void take_waiting(std::uint64_t place, Cycle now);
  void go_on(Cycle now);
  Done end(const Trip& trip, Cycle now) override;

  std::uint64_t machines_;
  Crossbar crossbar_;
  Sram sram_;
  std::deque<Iteration> work_;                             // those in the first partition, in order
  std::uint64_t gone_on_ = 0;                              // iterations that are among the results, or back
  std::map<std::uint32_t, std::vector<Arrival>> waiting_;  // by iteration
  std::map<std::uint32_t, Taken> taken_;                   // by message
  Cycle usable_at_ = kNever;                               // when messages became usable last,
  std::vector<std::uint64_t> usable_cells_;                // and the cells of those that can be passed on without a bank
  std::uint32_t waiting_now_ = 0, waiting_peak_ = 0;
  std::uint64_t waited_ = 0, forwarded_ = 0;
  std::vector<IterationRecord> steps_;
};

}  // namespace certree::endpoint
