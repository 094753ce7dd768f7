// The links between network interfaces, with the latencies, lanes and order of the contract (M2 to M5).
#pragma once

#include <algorithm>
#include <list>

#include "numbers.hpp"

class Network {
 public:
  struct Flit {
    int64_t ni, lane;
    bool is_first;
    const Bits *header, *data;
  };
  int faults = 0;  // a message found its lane taken, or had a wrong route

  explicit Network(const Numbers& numbers)
      : n_(numbers), free_at_(numbers["LANES"]), sending_(numbers["NIS"] * numbers["TX_LANES"]) {
    for (const auto capacity : n_.list("PAIR_LANES")) lanes_.push_back(capacity);
    for (size_t pair = 0; pair < lanes_.size(); pair++) first_.push_back(n_.list("PAIR_FIRST")[pair]);
  }

  // The next run begins at time 0: nothing is under way.
  void restart() {
    faults += int(messages_.size());
    free_at_.assign(free_at_.size(), 0);
  }

  // Messages in transit take their next lanes: those that came up to cycle `now - 1`, in the order of M5.
  void forward(int64_t now) {
    while (true) {
      Message* next = nullptr;
      for (auto& one : messages_) {
        if (!one.is_asking || one.when >= now) continue;
        if (next == nullptr || std::pair(one.when, one.came_by) < std::pair(next->when, next->came_by)) next = &one;
      }
      if (next == nullptr) return;
      const int64_t first = first_[next->pair], when = next->when;
      int64_t best = 0;
      for (int64_t lane = 1; lane < lanes_[next->pair]; lane++) {
        if (std::max(free_at_[first + lane], when) < std::max(free_at_[first + best], when)) best = lane;
      }
      take(*next, best, std::max(free_at_[first + best], when));
    }
  }

  // A flit on an outgoing lane of an interface, which left it in cycle `now - 1`.
  void enter(int64_t now, int64_t ni, int64_t tx, bool is_first, const Bits& header, const Bits& data) {
    const int64_t place = ni * n_["TX_LANES"] + tx;
    if (is_first) {
      messages_.emplace_back();
      Message& one = messages_.back();
      one.pair = n_.list("TX_PAIR")[place];
      one.header = header;
      const int64_t lane = n_.list("TX_LANE")[place], port = port_of(one, 0);
      const auto& pairs = n_.list("PORT_PAIR");
      if (port != eject() && (port >= n_["PORTS"] || pairs[n_.list("NODE_OF")[ni] * n_["PORTS"] + port] != one.pair)) faults++;
      if (free_at_[first_[one.pair] + lane] > now - 1) faults++;
      take(one, lane, now - 1);
      sending_[place] = &one;
    }
    sending_[place]->flits.push_back(data);
  }

  // The flits that interfaces see in cycle `now + 1`.
  std::vector<Flit> leave(int64_t now) {
    messages_.remove_if([this](const Message& one) { return one.delivered == flits_of(one); });
    std::vector<Flit> found;
    for (auto& one : messages_) {
      if (one.is_asking || one.first + one.delivered != now + 1) continue;
      found.push_back({one.ni, one.lane, one.delivered == 0, &one.header, &one.flits.at(one.delivered)});
      one.delivered++;
    }
    return found;
  }

 private:
  struct Message {
    bool is_asking = false;  // for a lane of `pair`, from `when` on
    int64_t pair = 0, hop = 0, when = 0, came_by = 0;
    int64_t ni = 0, lane = 0, first = 0, delivered = 0;  // once the last lane is known
    Bits header;
    std::vector<Bits> flits;
  };

  int64_t eject() const { return (int64_t(1) << n_["PORT_BITS"]) - 1; }

  int64_t port_of(const Message& one, int64_t hop) const {
    const int64_t bits = n_["PORT_BITS"], hops = n_["HOPS"];
    return hop < hops ? int64_t(get(*one.header.data(), n_["HEADER_ROUTE_LSB"] + (hops - 1 - hop) * bits, bits)) : eject();
  }

  // The flits of a message.
  int64_t flits_of(const Message& one) const {
    if (!n_["HAS_SIZES"]) return n_["MESSAGE_FLITS"];
    return n_["HEAD_FLITS"] + int64_t(get(*one.header.data(), n_["HEADER_SIZE_LSB"], n_["SIZE_BITS"]));
  }

  // The message gets a lane of its pair in cycle v.
  void take(Message& one, int64_t lane, int64_t v) {
    const int64_t pair = one.pair, dst = n_.list("PAIR_DST")[pair], port = port_of(one, ++one.hop);
    free_at_[first_[pair] + lane] = v + flits_of(one);
    one.came_by = first_[pair] + lane;
    one.when = v + n_.list("PAIR_CROSSING")[pair];
    one.is_asking = port != eject();
    if (one.is_asking) {
      one.pair = n_.list("PORT_PAIR")[dst * n_["PORTS"] + port];
    } else {
      one.ni = n_.list("NI_OF")[dst];
      one.lane = n_.list("PAIR_RX")[pair] + lane;
      one.first = one.when + n_["END_CYCLES"];
    }
  }

  const Numbers& n_;
  std::list<Message> messages_;
  std::vector<int64_t> free_at_, lanes_, first_;
  std::vector<Message*> sending_;
};
