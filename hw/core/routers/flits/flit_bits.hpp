// Flits as bits: the layout of the MultiTree paper's Fig. 8, packed and unpacked. Widths come from Python.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "routers/packet.hpp"

namespace certree {

inline constexpr std::uint32_t kTypeBits = 3;

struct FlitShape {
  std::uint32_t vc, node, ports, hops, tree, data;  // `ports` and `hops` are numbers, the others bits

  std::uint32_t bits() const { return vc + kTypeBits + data; }
  std::uint32_t route_fields() const { return hops + 1; }
  std::uint32_t limbs() const { return (bits() + 63) / 64; }
};

// The fields of one flit; a port that is `ports` has no bit. `data` are limbs, the lowest first.
struct FlitFields {
  FlitCode code = FlitCode::kBody;
  std::uint32_t vc = 0, dest = 0, src = 0, tree = 0;
  std::vector<std::uint32_t> route;
  std::vector<std::uint64_t> data;
};

// A cursor over the bits of a flit, from the most significant one down.
class FlitCursor {
 public:
  FlitCursor(const FlitShape& shape, std::span<std::uint64_t> word) : word_(word), left_(shape.bits()) {}

  std::uint32_t left() const { return left_; }
  void put(std::uint32_t value, std::uint32_t bits) {
    for (std::uint32_t bit = bits; bit-- > 0;) put_bit(value >> bit & 1);
  }
  void put_port(std::uint32_t port, std::uint32_t ports) {
    for (std::uint32_t bit = ports; bit-- > 0;) put_bit(bit == port);
  }
  std::uint32_t get(std::uint32_t bits) {
    std::uint32_t value = 0;
    while (bits-- > 0) value = value << 1 | static_cast<std::uint32_t>(get_bit());
    return value;
  }
  // The port whose bit is set, `ports` where none is; `more` is raised where several are.
  std::uint32_t get_port(std::uint32_t ports, bool& more) {
    std::uint32_t port = ports;
    for (std::uint32_t bit = ports; bit-- > 0;) {
      if (!get_bit()) continue;
      more = more || port != ports;
      port = bit;
    }
    return port;
  }
  // The rest of the flit: its data.
  void put_rest(std::span<const std::uint64_t> data) {
    while (left_ > 0) {
      const std::uint32_t bit = left_ - 1;
      put_bit(data[bit / 64] >> bit % 64 & 1);
    }
  }
  void get_rest(std::span<std::uint64_t> data) {
    while (left_ > 0) {
      const std::uint32_t bit = left_ - 1;
      if (get_bit()) data[bit / 64] |= std::uint64_t{1} << bit % 64;
    }
  }

 private:
  void put_bit(std::uint64_t value) {
    --left_;
    word_[left_ / 64] |= value << left_ % 64;
  }
  bool get_bit() {
    --left_;
    return word_[left_ / 64] >> left_ % 64 & 1;
  }

  std::span<std::uint64_t> word_;
  std::uint32_t left_;
};

constexpr bool has_nodes(FlitCode code) { return code == FlitCode::kHead || code == FlitCode::kHeadTail; }

// The flit in `word`, which is all zeros before. Data above the room that a head leaves are not written.
inline void pack_flit(const FlitShape& shape, const FlitFields& fields, std::span<std::uint64_t> word) {
  FlitCursor cursor(shape, word);
  cursor.put(fields.vc, shape.vc);
  cursor.put(static_cast<std::uint32_t>(fields.code), kTypeBits);
  if (has_nodes(fields.code)) {
    cursor.put(fields.dest, shape.node);
    cursor.put(fields.src, shape.node);
  } else if (fields.code == FlitCode::kMessageHead) {
    for (const std::uint32_t port : fields.route) cursor.put_port(port, shape.ports);
    cursor.put(fields.tree, shape.tree);
  }
  cursor.put_rest(fields.data);
}

// The fields of a flit; false where a field of its route is not one-hot. Fields that the flit has not are zero.
inline bool unpack_flit(const FlitShape& shape, std::span<std::uint64_t> word, FlitFields& fields) {
  FlitCursor cursor(shape, word);
  bool more = false;
  fields = {};
  fields.data.assign(shape.limbs(), 0);
  fields.route.assign(shape.route_fields(), 0);
  fields.vc = cursor.get(shape.vc);
  fields.code = static_cast<FlitCode>(cursor.get(kTypeBits));
  if (has_nodes(fields.code)) {
    fields.dest = cursor.get(shape.node);
    fields.src = cursor.get(shape.node);
  } else if (fields.code == FlitCode::kMessageHead) {
    for (std::uint32_t& port : fields.route) port = cursor.get_port(shape.ports, more);
    fields.tree = cursor.get(shape.tree);
    more = more || fields.route.front() == shape.ports;
  }
  cursor.get_rest(fields.data);
  return !more;
}

// A message's head as a router passes it on: the fields of its route turn by one, which exchanges Next and Eject of a single hop.
// Any other flit stays as it is.
inline void turn_flit(const FlitShape& shape, std::span<std::uint64_t> word) {
  FlitFields fields;
  if (!unpack_flit(shape, word, fields) || fields.code != FlitCode::kMessageHead) return;
  std::rotate(fields.route.begin(), fields.route.begin() + 1, fields.route.end());
  std::fill(word.begin(), word.end(), 0);
  pack_flit(shape, fields, word);
}

}  // namespace certree
