// The headers of the contributions in work: they route the result back (NetReduce, Fig. 21).
#pragma once

#include <vector>

#include "reducing/aggregation_packet.hpp"

namespace certree {

struct Header {
  EdgeId edge;
  std::uint32_t number;
};

// A row for each place, one header for each child. Memory O(places · children).
class HeaderBuffer {
 public:
  HeaderBuffer(std::uint32_t places, std::uint32_t children) : children_(children), headers_(std::size_t{places} * children) {}

  void keep(std::uint32_t place, std::uint32_t child, const Header& header) {
    headers_[std::size_t{place} * children_ + child] = header;
  }
  const Header& header(std::uint32_t place, std::uint32_t child) const { return headers_[std::size_t{place} * children_ + child]; }
  std::uint32_t children() const { return children_; }

 private:
  std::uint32_t children_;
  std::vector<Header> headers_;
};

}  // namespace certree
