#include "allocator.hpp"

namespace certree {
namespace {

constexpr std::uint32_t kNone = UINT32_MAX;

}  // namespace

Allocator::Allocator(AllocatorKind kind, std::uint32_t iterations, std::uint32_t inputs, std::uint32_t outputs)
    : kind_(kind), iterations_(iterations), input_count_(inputs), output_count_(outputs), inputs_(inputs), outputs_(outputs) {}

void Allocator::consider(Arbiter& arbiter, std::uint32_t who, std::uint32_t size, std::uint32_t request) {
  const std::uint32_t distance = who >= arbiter.pointer ? who - arbiter.pointer : who + size - arbiter.pointer;
  if (arbiter.best == kNone || distance < arbiter.distance) {
    arbiter.best = request;
    arbiter.distance = distance;
  }
}

void Allocator::move_pointers(const Request& request) {
  inputs_[request.input].pointer = request.output + 1 == output_count_ ? 0 : request.output + 1;
  outputs_[request.output].pointer = request.input + 1 == input_count_ ? 0 : request.input + 1;
}

std::span<const std::uint32_t> Allocator::allocate(std::span<const Request> requests) {
  granted_.clear();
  if (requests.size() == 1) {  // nobody to compete with
    move_pointers(requests[0]);
    granted_.push_back(0);
    return granted_;
  }
  for (const Request& request : requests) inputs_[request.input].is_matched = outputs_[request.output].is_matched = false;
  for (std::uint32_t iteration = 0; iteration < iterations_; ++iteration) {
    const std::size_t before = granted_.size();
    iterate(requests, iteration == 0);
    if (granted_.size() == before) break;
  }
  return granted_;
}

void Allocator::iterate(std::span<const Request> requests, bool is_first) {
  const bool outputs_choose_first = kind_ == AllocatorKind::kIslip;
  for (const Request& request : requests) inputs_[request.input].best = outputs_[request.output].best = kNone;
  const auto is_open = [&](const Request& request) {
    return is_first || (!inputs_[request.input].is_matched && !outputs_[request.output].is_matched);
  };
  const auto ask_output = [&](std::uint32_t i) { consider(outputs_[requests[i].output], requests[i].input, input_count_, i); };
  const auto ask_input = [&](std::uint32_t i) { consider(inputs_[requests[i].input], requests[i].output, output_count_, i); };
  const auto count = static_cast<std::uint32_t>(requests.size());
  for (std::uint32_t i = 0; i < count; ++i) {
    if (!is_open(requests[i])) continue;
    outputs_choose_first ? ask_output(i) : ask_input(i);
  }
  for (std::uint32_t i = 0; i < count; ++i) {
    if (!is_open(requests[i])) continue;
    if (outputs_choose_first) {
      if (outputs_[requests[i].output].best == i) ask_input(i);
    } else {
      if (inputs_[requests[i].input].best == i) ask_output(i);
    }
  }
  for (std::uint32_t i = 0; i < count; ++i) {
    const Request& request = requests[i];
    if (!is_open(request) || inputs_[request.input].best != i || outputs_[request.output].best != i) continue;
    inputs_[request.input].is_matched = outputs_[request.output].is_matched = true;
    granted_.push_back(i);
    if (is_first) move_pointers(request);
  }
}

}  // namespace certree
