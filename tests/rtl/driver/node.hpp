// A node: the reference interface as a Verilator model, and its memory, in which a read sees what is written in its own cycle.
#pragma once

#include <memory>

#include "Vcertree_ni.h"
#include "network.hpp"

// Granule `a` of the message that an interface begins with: SplitMix64, as in certree_tb_pkg.
inline Bits initial_granule(int64_t bits, uint64_t ni, uint64_t a) {
  Bits found;
  for (int64_t low = 0; low < bits; low += 8) {
    uint64_t z = 0x9e3779b97f4a7c15u * ((ni << 48) + (a << 8) + uint64_t(low) + 1);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    found.push_back(uint8_t(z ^ (z >> 31)));
  }
  return found;
}

// Element by element, without carry from one to the next.
inline Bits added(const Bits& one, const Bits& other, int64_t element_bytes) {
  Bits sum(one.size());
  for (size_t place = 0, carry = 0; place < one.size(); place++) {
    if (place % element_bytes == 0) carry = 0;
    carry += one[place] + other[place];
    sum[place] = uint8_t(carry);
    carry >>= 8;
  }
  return sum;
}

class Node {
 public:
  Node(VerilatedContext* context, const Numbers& numbers, int64_t ni)
      : pins(std::make_unique<Vcertree_ni>(context, ("ni" + std::to_string(ni)).c_str())), n_(numbers) {
    tx_ = n_["TX_LANES"], rx_ = n_["RX_LANES"], reads_of_ = n_["READ_PORTS"], writes_ = n_["WRITE_PORTS"],
    bits_ = n_["GRANULE_BITS"], addr_ = n_["ADDR_BITS"], sums_ = n_["SUM_GRANULES"];
    cells.resize(n_["MEMORY_DEPTH"]);
    begin(ni, 0);
    set(pins->read_ready, 0, reads_of_, ~uint64_t(0));
    set(pins->write_ready, 0, writes_, ~uint64_t(0));
    pins->sum_read_ready = pins->sum_write_ready = 1;
    pins->rst = 1;
  }

  // Its message: that of a further collective is another one.
  void begin(int64_t ni, int64_t collective) {
    for (size_t a = 0; a < cells.size(); a++) cells[a] = initial_granule(bits_, ni, (uint64_t(collective) << 32) + a);
  }

  // Writes and reads that the pins ask for; what is read is on the pins after the edge.
  void access_memory() {
    for (int64_t l = 0; l < writes_; l++) {
      if (get(pins->write_valid, l, 1)) {
        cells.at(cell(get(pins->write_addr, l * addr_, addr_))) = slice(pins->write_data, l * bits_, bits_);
      }
    }
    for (int64_t g = 0; g < sums_ && pins->sum_write_valid; g++) {
      if (!get(pins->sum_write_granules, g, 1)) continue;
      cells.at(cell(pins->sum_write_addr) + g) = slice(pins->sum_write_data, g * bits_, bits_);
    }
    reads_.clear();
    for (int64_t l = 0; l < reads_of_; l++) {
      if (get(pins->read_valid, l, 1)) reads_.emplace_back(l, cells.at(cell(get(pins->read_addr, l * addr_, addr_))));
    }
    sum_reads_.clear();
    for (int64_t g = 0; g < sums_ && pins->sum_read_valid; g++) {
      sum_reads_.emplace_back(at(cell(pins->sum_read_addr) + g), at(cell(pins->sum_staged_addr) + g));
    }
  }

  // A rising edge of the clock, and what the memory and the links give after it.
  void edge(const std::vector<Network::Flit>& coming, int64_t ni) {
    pins->clk = 1;
    pins->eval();
    for (const auto& [lane, data] : reads_) put(pins->read_data, lane * bits_, bits_, data);
    for (size_t g = 0; g < sum_reads_.size(); g++) {
      put(pins->sum_read_data, int64_t(g) * bits_, bits_, sum_reads_[g].first);
      put(pins->sum_staged_data, int64_t(g) * bits_, bits_, sum_reads_[g].second);
    }
    set(pins->rx_valid, 0, rx_, 0);
    set(pins->rx_first, 0, rx_, 0);
    for (const auto& flit : coming) {
      if (flit.ni != ni) continue;
      set(pins->rx_valid, flit.lane, 1, 1);
      set(pins->rx_first, flit.lane, 1, flit.is_first);
      put(pins->rx_header, flit.lane * n_["HEADER_BITS"], n_["HEADER_BITS"], *flit.header);
      put(pins->rx_data, flit.lane * bits_, bits_, *flit.data);
    }
  }

  void settle() {
    pins->clk = 0;
    pins->eval();
  }

  // What the pins say of outgoing lanes goes into the network.
  void send(Network& network, int64_t now, int64_t ni) const {
    const int64_t header_bits = n_["HEADER_BITS"];
    for (int64_t l = 0; l < tx_; l++) {
      if (!get(pins->tx_valid, l, 1)) continue;
      const bool is_first = get(pins->tx_first, l, 1) != 0;
      const Bits header = is_first ? slice(pins->tx_header, l * header_bits, header_bits) : Bits();
      network.enter(now, ni, l, is_first, header, slice(pins->tx_data, l * bits_, bits_));
    }
  }

  std::unique_ptr<Vcertree_ni> pins;
  std::vector<Bits> cells;

 private:
  // The cell at an address: the top bit says that it is in the staging area, which is behind what tables use.
  size_t cell(uint64_t address) const {
    const uint64_t staging = uint64_t(1) << (addr_ - 1);
    return size_t(address & staging ? (address ^ staging) + uint64_t(n_["MEMORY_GRANULES"]) : address);
  }

  Bits at(size_t place) const { return place < cells.size() ? cells[place] : Bits(bits_ / 8); }

  const Numbers& n_;
  int64_t tx_, rx_, reads_of_, writes_, bits_, addr_, sums_;
  std::vector<std::pair<int64_t, Bits>> reads_;
  std::vector<std::pair<Bits, Bits>> sum_reads_;
};
