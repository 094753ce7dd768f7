// A bus between accelerator, memory and network interface, by the LogGP model.
#pragma once

#include "endpoint/units/rate.hpp"

namespace certree::endpoint {

// Sum and number of something, for an average.
struct Tally {
  std::uint64_t sum = 0;
  std::uint64_t count = 0;
  void add(std::uint64_t value) {
    sum += value;
    ++count;
  }
  void add(const Tally& other) {
    sum += other.sum;
    count += other.count;
  }
};

// LogGP (Alexandrov et al. 1995): overhead o at either end, latency L, g from the last byte of one transfer to the first of the
// next, G for each byte.
struct BusParameters {
  Rate rate;
  std::uint64_t latency = 0;
  std::uint64_t overhead = 0;
  std::uint64_t gap = 0;
};

class Bus {
 public:
  explicit Bus(const BusParameters& parameters) : parameters_(parameters), server_(parameters.rate) {}

  // A transfer is asked for in cycle `now`; when all of it has come out at the other end. One that does not `end` leaves no gap to
  // the next: it is a piece of a longer one. O(1).
  Cycle transfer(Cycle now, std::uint64_t bytes, bool ends = true) {
    const Span span = server_.reserve(now + parameters_.overhead, bytes, ends ? parameters_.gap : 0);
    const Cycle end = span.last + (parameters_.latency + parameters_.overhead);
    queued_.add(span.first - now - parameters_.overhead);
    moved_.add(end - now - (span.first - now - parameters_.overhead));
    bytes_ += bytes;
    return end;
  }

  // The bus is busy with bytes of something else from the cycle in which they are asked for; when they are through. O(1).
  Cycle occupy(Cycle now, std::uint64_t bytes) { return server_.reserve(now, bytes).last; }

  const Tally& queued() const { return queued_; }  // cycles that transfers waited for those before them
  const Tally& moved() const { return moved_; }    // cycles from there until they had arrived
  std::uint64_t bytes() const { return bytes_; }
  std::uint64_t busy_cycles() const { return server_.busy_cycles(); }
  std::uint64_t busy_cycles(Cycle now) const { return server_.busy_cycles(now); }

 private:
  BusParameters parameters_;
  Server server_;
  Tally queued_;
  Tally moved_;
  std::uint64_t bytes_ = 0;
};

}  // namespace certree::endpoint
