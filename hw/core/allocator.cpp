#include "allocator.hpp"

namespace certree {
namespace {

constexpr std::uint32_t kNone = UINT32_MAX;

}  // namespace

Allocator::Allocator(AllocatorKind kind, std::uint32_t iterations, std::uint32_t inputs, std::uint32_t outputs)
    : kind_(kind), iterations_(iterations), input_count_(inputs), output_count_(outputs), inputs_(inputs), outputs_(outputs) {}

void Allocator::consider(Side& side, std::uint32_t index, std::uint32_t who, std::uint32_t size, std::uint32_t request) {
  const std::uint32_t pointer = side.pointer[index];
  const std::uint32_t distance = who >= pointer ? who - pointer : who + size - pointer;
  if (side.best[index] == kNone || distance < side.distance[index]) {
    side.best[index] = request;
    side.distance[index] = distance;
  }
}

std::span<const std::uint32_t> Allocator::allocate(std::span<const Request> requests) {
  granted_.clear();
  if (requests.size() == 1) {  // nobody to compete with
    inputs_.pointer[requests[0].input] = requests[0].output + 1 == output_count_ ? 0 : requests[0].output + 1;
    outputs_.pointer[requests[0].output] = requests[0].input + 1 == input_count_ ? 0 : requests[0].input + 1;
    granted_.push_back(0);
    return granted_;
  }
  for (const Request& request : requests) {
    inputs_.is_matched[request.input] = 0;
    outputs_.is_matched[request.output] = 0;
  }
  for (std::uint32_t iteration = 0; iteration < iterations_; ++iteration) {
    const std::size_t before = granted_.size();
    iterate(requests, iteration == 0);
    if (granted_.size() == before) break;
  }
  return granted_;
}

void Allocator::iterate(std::span<const Request> requests, bool is_first) {
  const bool outputs_choose_first = kind_ == AllocatorKind::kIslip;
  for (const Request& request : requests) {
    inputs_.best[request.input] = kNone;
    outputs_.best[request.output] = kNone;
  }
  const auto is_open = [&](const Request& request) {
    return !inputs_.is_matched[request.input] && !outputs_.is_matched[request.output];
  };
  const auto ask_output = [&](std::uint32_t i) { consider(outputs_, requests[i].output, requests[i].input, input_count_, i); };
  const auto ask_input = [&](std::uint32_t i) { consider(inputs_, requests[i].input, requests[i].output, output_count_, i); };
  const auto count = static_cast<std::uint32_t>(requests.size());
  for (std::uint32_t i = 0; i < count; ++i) {
    if (!is_open(requests[i])) continue;
    outputs_choose_first ? ask_output(i) : ask_input(i);
  }
  for (std::uint32_t i = 0; i < count; ++i) {
    const Request& request = requests[i];
    if (!is_open(request)) continue;
    if (outputs_choose_first) {
      if (outputs_.best[request.output] == i) ask_input(i);
    } else {
      if (inputs_.best[request.input] == i) ask_output(i);
    }
  }
  for (std::uint32_t i = 0; i < count; ++i) {
    const Request& request = requests[i];
    if (!is_open(request) || inputs_.best[request.input] != i || outputs_.best[request.output] != i) continue;
    inputs_.is_matched[request.input] = outputs_.is_matched[request.output] = 1;
    granted_.push_back(i);
    if (!is_first) continue;
    inputs_.pointer[request.input] = request.output + 1 == output_count_ ? 0 : request.output + 1;
    outputs_.pointer[request.output] = request.input + 1 == input_count_ ? 0 : request.input + 1;
  }
}

}  // namespace certree
