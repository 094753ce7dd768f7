// Allocators of a router: in turn, drifting apart, and as plain loops match.
#include "routers/router/allocator.hpp"

#include <algorithm>
#include <map>
#include <set>

#include "check.hpp"

using namespace certree;

namespace {

std::vector<Match> matched(Allocator& allocator, const std::vector<Match>& requests) {
  for (const Match& request : requests) allocator.request(request.input, request.output);
  const auto matches = allocator.allocate();
  return {matches.begin(), matches.end()};
}

}  // namespace

TEST(round_robin_serves_everybody_in_turn) {
  for (const AllocatorKind kind : {AllocatorKind::kIslip, AllocatorKind::kSeparable}) {
    Allocator allocator(kind, 1, 4, 2);
    const std::vector<Match> all = {{0, 1}, {1, 1}, {2, 1}, {3, 1}};
    std::vector<std::uint32_t> served;
    for (int round = 0; round < 8; ++round) served.push_back(matched(allocator, all)[0].input);
    CHECK(served == std::vector<std::uint32_t>({0, 1, 2, 3, 0, 1, 2, 3}));
  }
}

TEST(islip_pointers_drift_apart_until_all_are_matched) {
  Allocator allocator(AllocatorKind::kIslip, 1, 3, 3);
  std::vector<Match> all;
  for (std::uint32_t input = 0; input < 3; ++input) {
    for (std::uint32_t output = 0; output < 3; ++output) all.push_back({input, output});
  }
  CHECK(matched(allocator, all).size() == 1);  // every output prefers input 0
  std::size_t last = 0;
  for (int round = 0; round < 4; ++round) last = matched(allocator, all).size();
  CHECK(last == 3);
}

// An allocator as the page describes it, in plain loops.
class PlainAllocator {
 public:
  PlainAllocator(AllocatorKind kind, std::uint32_t iterations, std::uint32_t inputs, std::uint32_t outputs)
      : kind_(kind), iterations_(iterations), input_pointers_(inputs), output_pointers_(outputs) {}

  std::set<std::pair<std::uint32_t, std::uint32_t>> allocate(const std::vector<Match>& requests) {
    std::set<std::pair<std::uint32_t, std::uint32_t>> matches;
    std::set<std::uint32_t> inputs, outputs;  // that are matched
    for (std::uint32_t iteration = 0; iteration < iterations_; ++iteration) {
      std::map<std::uint32_t, std::uint32_t> first, second;  // by chooser, then by asker
      const bool outputs_first = kind_ == AllocatorKind::kIslip;
      for (const Match& request : requests) {
        if (inputs.contains(request.input) || outputs.contains(request.output)) continue;
        outputs_first ? offer(first, request.output, request.input, output_pointers_, input_pointers_.size())
                      : offer(first, request.input, request.output, input_pointers_, output_pointers_.size());
      }
      for (const auto& [chooser, asker] : first) {
        outputs_first ? offer(second, asker, chooser, input_pointers_, output_pointers_.size())
                      : offer(second, asker, chooser, output_pointers_, input_pointers_.size());
      }
      for (const auto& [asker, chooser] : second) {
        const std::uint32_t input = outputs_first ? asker : chooser, output = outputs_first ? chooser : asker;
        matches.insert({input, output});
        inputs.insert(input);
        outputs.insert(output);
        if (iteration > 0) continue;
        input_pointers_[input] = (output + 1) % output_pointers_.size();
        output_pointers_[output] = (input + 1) % input_pointers_.size();
      }
    }
    return matches;
  }

 private:
  static void offer(std::map<std::uint32_t, std::uint32_t>& best, std::uint32_t who, std::uint32_t whom,
                    const std::vector<std::uint32_t>& pointers, std::size_t size) {
    const auto distance = [&](std::uint32_t to) { return (to + size - pointers[who]) % size; };
    const auto [entry, is_new] = best.try_emplace(who, whom);
    if (!is_new && distance(whom) < distance(entry->second)) entry->second = whom;
  }

  AllocatorKind kind_;
  std::uint32_t iterations_;
  std::vector<std::uint32_t> input_pointers_;
  std::vector<std::uint32_t> output_pointers_;
};

TEST(allocators_match_as_plain_loops_do) {
  std::uint32_t state = 7;
  const auto random = [&](std::uint32_t below) {
    state = state * 1664525 + 1013904223;
    return static_cast<std::uint32_t>((std::uint64_t{state} * below) >> 32U);
  };
  for (const AllocatorKind kind : {AllocatorKind::kIslip, AllocatorKind::kSeparable}) {
    for (const auto& [ins, outs] : {std::pair<std::uint32_t, std::uint32_t>{5, 6}, {64, 64}, {65, 3}, {7, 130}, {150, 140}}) {
      for (const std::uint32_t iterations : {1U, 2U, 4U}) {
        Allocator allocator(kind, iterations, ins, outs);
        PlainAllocator plain(kind, iterations, ins, outs);
        for (int round = 0; round < 60; ++round) {
          std::vector<Match> requests(random(3 * std::max(ins, outs)));
          for (Match& request : requests) request = {random(ins), random(outs)};
          const auto expected = plain.allocate(requests);
          std::set<std::pair<std::uint32_t, std::uint32_t>> found;
          for (const Match& match : matched(allocator, requests)) CHECK(found.insert({match.input, match.output}).second);
          CHECK(found == expected);
        }
      }
    }
  }
}

TEST(whoever_is_alone_gets_what_an_allocation_would_give) {
  for (const AllocatorKind kind : {AllocatorKind::kIslip, AllocatorKind::kSeparable}) {
    Allocator alone(kind, 1, 6, 130), asked(kind, 1, 6, 130);
    std::uint32_t state = 3;
    for (int round = 0; round < 500; ++round) {
      state = state * 1664525 + 1013904223;
      const std::uint32_t input = (state >> 8U) % 6, base = (state >> 12U) % 100;
      const std::uint64_t wanted = (state >> 16U) % 255 + 1;
      std::vector<Match> requests;
      for (std::uint32_t bit = 0; bit < 8; ++bit) {
        if ((wanted >> bit & 1) != 0) requests.push_back({input, base + bit});
      }
      const Match found = alone.match_alone(input, base, wanted);
      const auto expected = matched(asked, requests);
      CHECK(expected.size() == 1 && expected[0].input == found.input && expected[0].output == found.output);
    }
  }
}
