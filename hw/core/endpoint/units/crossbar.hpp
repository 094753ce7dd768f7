// What moves packets between the banks of the SRAM, the ALUs and the ports.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "endpoint/units/rate.hpp"

namespace certree::endpoint {

// Equal units in parallel, each at work on one message at a time, for a fixed number of bytes per cycle.
class Units {
 public:
  Units(std::uint32_t count, std::uint64_t bytes) : free_at_(count), bytes_(bytes) {}

  std::uint64_t cycles(std::uint64_t bytes) const { return (bytes + bytes_ - 1) / bytes_; }
  Cycle earliest() const { return *std::min_element(free_at_.begin(), free_at_.end()); }
  // The one that is free first is busy with these bytes until `end`.
  void occupy(Cycle end, std::uint64_t bytes) {
    *std::min_element(free_at_.begin(), free_at_.end()) = end;
    busy_ += cycles(bytes);
  }
  std::uint64_t busy_cycles() const { return busy_; }

 private:
  std::vector<Cycle> free_at_;
  std::uint64_t bytes_;
  std::uint64_t busy_ = 0;
};

struct CrossbarParameters {
  std::uint32_t alus = 4;
  std::uint64_t alu_bytes = 64;  // that an ALU adds, and its buses move, in a cycle
  std::uint32_t banks = 4;
  std::uint64_t bank_bytes = 256;  // that go into a bank, and as many out of it, in a cycle
  std::uint64_t packet_bytes = 256;
};

// A message occupies all that it needs at once, or waits: a port into a bank, for a sum also an ALU and a port out of a bank. What
// comes in by packets is worked on as it comes, so that only the last packet is still to be done when the message is complete.
class Crossbar {
 public:
  explicit Crossbar(const CrossbarParameters& parameters)
      : packet_bytes_(parameters.packet_bytes),
        reads_(parameters.banks, parameters.bank_bytes),
        writes_(parameters.banks, parameters.bank_bytes),
        alus_(parameters.alus, parameters.alu_bytes) {}

  // A message from a port whose first byte came in cycle `head`, that was complete in `tail`, and that is taken `now`: as fast as
  // the slowest unit that it needs.
  Span take(Cycle now, Cycle head, Cycle tail, std::uint64_t bytes, bool adds) {
    const auto cycles_of = [&](std::uint64_t part) {
      const std::uint64_t stored = writes_.cycles(part);
      return adds ? std::max({alus_.cycles(part), reads_.cycles(part), stored}) : stored;
    };
    const std::uint64_t packet = cycles_of(std::min(bytes, packet_bytes_));
    Cycle start = std::max(now > tail ? now : head + packet, writes_.earliest());
    if (adds) start = std::max({start, reads_.earliest(), alus_.earliest()});
    const std::uint64_t cycles = cycles_of(bytes);
    const Cycle end = std::max(start + cycles, tail + packet);
    writes_.occupy({end.value - cycles + writes_.cycles(bytes)}, bytes);
    if (adds) {
      reads_.occupy({end.value - cycles + reads_.cycles(bytes)}, bytes);
      alus_.occupy(end, bytes);
    }
    return {{end.value - cycles}, end};
  }

  // A message out of a bank; its first packet and its last are out.
  Span read(Cycle now, std::uint64_t bytes) {
    const Cycle start = std::max(now, reads_.earliest());
    reads_.occupy(start + reads_.cycles(bytes), bytes);
    return {start + reads_.cycles(std::min(bytes, packet_bytes_)), start + reads_.cycles(bytes)};
  }

  const Units& reads() const { return reads_; }
  const Units& writes() const { return writes_; }
  const Units& alus() const { return alus_; }

 private:
  std::uint64_t packet_bytes_;
  Units reads_, writes_, alus_;
};

}  // namespace certree::endpoint
