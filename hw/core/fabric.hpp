// The lanes of a network and the messages that wait for them.
#pragma once

#include <vector>

#include "lane.hpp"
#include "program.hpp"
#include "transport.hpp"

namespace certree {

class Fabric : public Transport {
 public:
  explicit Fabric(const Program& program) : program_(program), ports_(program.nodes) {
    const PathDelays ends{program.ni_cycles, program.router_cycles, 0};
    for (std::size_t bundle = 0; bundle < program.bundle_source.size(); ++bundle) {
      PathDelays delays = ends;
      delays.link = program.bundle_latency[bundle];
      for (std::uint32_t lane = program.bundle_begin[bundle]; lane < program.bundle_begin[bundle + 1]; ++lane) {
        ports_[program.bundle_source[bundle]].push_back({static_cast<std::uint32_t>(lanes.size())});
        lanes.emplace_back(NodeId{program.bundle_source[bundle]}, delays, program.message_flits);
      }
    }
  }

  // The message queues at the lane of its bundle with the fewest flits to send, the lowest numbered of equals.
  void send(MessageId message, std::uint32_t index) override {
    const std::uint32_t bundle = program_.message_bundle[index];
    std::uint32_t best = program_.bundle_begin[bundle];
    for (std::uint32_t lane = best + 1; lane < program_.bundle_begin[bundle + 1]; ++lane) {
      if (lanes[lane].port.backlog() < lanes[best].port.backlog()) best = lane;
    }
    Lane& lane = lanes[best];
    lane.port.enqueue(message);
    if (!lane.is_listed) {
      lane.is_listed = true;
      busy_lanes.push_back({best});
    }
  }

  bool is_settled(NodeId node) const override {
    for (LaneId port : ports_[node.value]) {
      if (lanes[port.value].port.backlog() > program_.ni_buffer_flits) return false;
    }
    return true;
  }

  std::vector<Lane> lanes;
  std::vector<LaneId> busy_lanes;  // those that hold flits, in no order

 private:
  const Program& program_;
  std::vector<std::vector<LaneId>> ports_;  // of each node
};

}  // namespace certree
