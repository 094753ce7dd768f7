// Transport of messages from one network interface to another: unshared lanes, or a network of routers.
#pragma once

#include "common/types.hpp"

namespace certree {

class Transport {
 public:
  virtual ~Transport() = default;
  // Takes a message of the ledger, number `index` among those that the program's rows send; its first flit may go this cycle.
  virtual void send(MessageId message, std::uint32_t index) = 0;
  // Whether all flits that wait at a node fit its injection buffers.
  virtual bool is_settled(NodeId node) const = 0;
};

}  // namespace certree
