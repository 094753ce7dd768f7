// Plays the tables of the folder it runs in: one Verilator model for each node, network and memories in C++. What the pins show is
// compared with the golden trace, event by event and cycle by cycle; then the data of every node are checked.
//
// driver NUMBERS TRACE LATE [SKEW]: `NUMBERS` as tests.rtl.model writes it, the golden trace, late rows that it has, and hex
// cycles that each interface starts late. Exit code 0 and PASS, or 1 and FAIL.
#include <cstdio>
#include <functional>

#include "node.hpp"

namespace {

std::vector<Bits> images(const std::string& path) {
  std::ifstream file(path);
  std::vector<Bits> found;
  for (std::string line; std::getline(file, line);) {
    Bits entry;
    for (int64_t high = int64_t(line.size()); high > 0; high -= 2) {
      entry.push_back(uint8_t(std::stoi(line.substr(std::max<int64_t>(0, high - 2), std::min<int64_t>(2, high)), nullptr, 16)));
    }
    found.push_back(entry);
  }
  return found;
}

std::string numbered(const char* name, int64_t node) {
  char text[32];
  std::snprintf(text, sizeof text, "%s_%04d.hex", name, int(node));
  return text;
}

class Bench {
 public:
  Bench(const Numbers& numbers, const std::string& trace, int64_t late)
      : n_(numbers), network_(numbers), trace_(trace), late_(late) {
    std::string columns;
    if (!std::getline(trace_, columns)) throw std::runtime_error("cannot read " + trace);
    for (int64_t ni = 0; ni < n_["NIS"]; ni++) nodes_.emplace_back(&context_, n_, ni);
    before_.resize(nodes_.size());
    is_said_.resize(nodes_.size());
  }

  void load(const std::vector<int64_t>& skew) {
    for (auto& node : nodes_) node.settle();
    for (int i = 0; i < 4; i++) cycle();
    for (auto& node : nodes_) node.pins->rst = 0;
    std::vector<std::vector<Bits>> rows, arrivals;
    for (const auto node : n_.list("NODE_OF")) {
      rows.push_back(images(numbered("slots", node)));
      arrivals.push_back(images(numbered("arrivals", node)));
    }
    window(0x100000, rows);
    window(0x200000, arrivals);
    if (n_["HAS_ROUTES"]) window(0x300000, std::vector(nodes_.size(), images("routes.hex")));
    for (int64_t l = 0; l < n_["TX_LANES"]; l++) {
      write(0x100 + 4 * l, [&](int64_t ni) { return n_.list("LANE_PEER")[ni * n_["TX_LANES"] + l]; });
    }
    write(0x10, [&](int64_t ni) { return skew[ni] + n_["START_CYCLES"]; });
    write(0x14, [&](int64_t ni) { return n_.list("NODE_OF")[ni]; });
    write(0x18, [&](int64_t ni) { return n_.list("ROWS_OF")[ni]; });
    write(0x1c, [&](int64_t ni) { return n_.list("ARRIVALS_OF")[ni]; });
    write(0x20, [&](int64_t ni) { return n_.list("FIRINGS_OF")[ni]; });
    write(0x24, [&](int64_t ni) { return n_.list("COUNTS_OF")[ni]; });
    write(0x34, [&](int64_t) { return n_["MEMORY_GRANULES"]; });
    write(0x4, [](int64_t) { return 4; });  // arm
    for (int64_t i = 0; i < n_["ARM_CYCLES"]; i++) cycle();
    write(0x4, [](int64_t) { return 1; });  // start
    now_ = 0;
  }

  bool play() {
    while (now_ < n_["TIME_LIMIT"] && said_ < nodes_.size()) cycle();
    const bool is_done = said_ == nodes_.size();
    for (int i = 0; i < 4; i++) cycle();
    for (std::string line; std::getline(trace_, line);) differences_++;
    int64_t late_rows = 0, errors = 0, wrong = 0;
    for (const auto value : read(0x38)) late_rows += value;
    for (const auto value : read(0x0c)) errors += (value & (late_ > 0 ? ~uint32_t(1) : ~uint32_t(0))) != 0;
    for (const auto& node : nodes_) errors += late_ == 0 && node.pins->has_error;
    for (size_t ni = 0; ni < nodes_.size(); ni++) wrong += has_wrong_data(ni);
    std::printf(
        "%lld events, %lld differences; %lld cycles; %lld late rows; %lld nodes with errors, %lld with wrong data; %d faults, %d "
        "refused\n",
        (long long)events_, (long long)differences_, (long long)now_, (long long)late_rows, (long long)errors, (long long)wrong,
        network_.faults, refused_);
    return is_done && differences_ + errors + wrong + network_.faults + refused_ == 0 && late_rows == late_;
  }

 private:
  struct Seen {  // by the end of the cycle before
    bool is_done = false;
    std::vector<std::pair<int64_t, int64_t>> counts;  // line, iteration
  };

  void cycle() {
    std::vector<Network::Flit> coming;
    if (now_ > 0) {
      for (size_t ni = 0; ni < nodes_.size(); ni++) compare(ni);
    }
    if (now_ >= 0) {
      network_.forward(now_);
      for (size_t ni = 0; ni < nodes_.size(); ni++) nodes_[ni].send(network_, now_, int64_t(ni));
      coming = network_.leave(now_);
    }
    for (size_t ni = 0; ni < nodes_.size(); ni++) {
      note(ni);
      nodes_[ni].access_memory();
      nodes_[ni].edge(coming, int64_t(ni));
    }
    for (auto& node : nodes_) node.settle();
    if (now_ >= 0) now_++;
  }

  void note(size_t ni) {
    const auto& pins = *nodes_[ni].pins;
    before_[ni].is_done = now_ >= 0 && pins.is_done;
    before_[ni].counts.clear();
    for (int64_t p = 0; p <= n_["RX_LANES"]; p++) {
      if (!get(pins.counted, p, 1)) continue;
      const auto line = get(pins.counted_line, p * n_["LINE_BITS"], n_["LINE_BITS"]);
      before_[ni].counts.emplace_back(line, get(pins.counted_to, p * n_["COUNT_BITS"], n_["COUNT_BITS"]) - 1);
    }
    std::sort(before_[ni].counts.begin(), before_[ni].counts.end());
  }

  void compare(size_t ni) {
    const auto& pins = *nodes_[ni].pins;
    for (int64_t w = 0; w < n_["WINDOW_ROWS"]; w++) {
      if (!get(pins.fired, w, 1)) continue;
      const auto iteration = get(pins.fired_iteration, w * n_["ITERATION_BITS"], n_["ITERATION_BITS"]);
      event(ni, "fire", int64_t(get(pins.fired_row, w * n_["ROW_INDEX_BITS"], n_["ROW_INDEX_BITS"])), int64_t(iteration));
    }
    for (int64_t l = 0; l < n_["TX_LANES"]; l++) {
      if (get(pins.tx_first, l, 1)) event(ni, "first", l, -1);
    }
    for (int64_t l = 0; l < n_["TX_LANES"]; l++) {
      if (get(pins.tx_last, l, 1)) event(ni, "last", l, -1);
    }
    for (const auto& [line, iteration] : before_[ni].counts) event(ni, "count", line, iteration);
    if (before_[ni].is_done && !is_said_[ni]) {
      event(ni, "done", -1, -1);
      is_said_[ni] = true;
      said_++;
    }
  }

  void event(size_t ni, const char* name, int64_t number, int64_t iteration) {
    const auto shown = [](int64_t value) { return value < 0 ? std::string() : std::to_string(value); };
    const std::string found = std::to_string(now_ - 1) + "," + std::to_string(n_.list("NODE_OF")[ni]) + "," + name + "," +
                              shown(number) + "," + shown(iteration);
    std::string expected;
    std::getline(trace_, expected);
    events_++;
    if (found == expected) return;
    if (++differences_ <= 5) std::printf("expected %s, found %s\n", expected.c_str(), found.c_str());
  }

  std::vector<uint32_t> access(int64_t address, bool is_write, const std::function<int64_t(int64_t)>& value, int64_t depth = -1) {
    std::vector<uint32_t> found;
    const auto selected = [&](size_t ni) { return depth < 0 || depths_[ni] > depth; };
    for (size_t ni = 0; ni < nodes_.size(); ni++) {
      auto& pins = *nodes_[ni].pins;
      pins.paddr = uint32_t(address);
      pins.pwrite = is_write;
      pins.psel = selected(ni);
      pins.pwdata = selected(ni) && is_write ? uint32_t(value(int64_t(ni))) : 0;
      pins.penable = 0;
    }
    for (auto& node : nodes_) node.settle();
    cycle();
    for (auto& node : nodes_) node.pins->penable = 1;
    for (size_t ni = 0; ni < nodes_.size(); ni++) {
      nodes_[ni].settle();
      const auto& pins = *nodes_[ni].pins;
      refused_ += selected(ni) && (pins.pslverr || !pins.pready);
      found.push_back(pins.prdata);
    }
    cycle();
    for (auto& node : nodes_) node.pins->psel = node.pins->penable = 0;
    for (auto& node : nodes_) node.settle();
    return found;
  }

  void write(int64_t address, const std::function<int64_t(int64_t)>& value) { access(address, true, value); }
  std::vector<uint32_t> read(int64_t address) {
    return access(address, false, [](int64_t) { return 0; });
  }

  void window(int64_t base, const std::vector<std::vector<Bits>>& entries) {
    size_t most = 0;
    depths_.clear();
    for (const auto& of_node : entries) {
      depths_.push_back(int64_t(of_node.size()));
      most = std::max(most, of_node.size());
    }
    for (size_t index = 0; index < most; index++) {
      for (int64_t word = 0; word < n_["WINDOW_WORDS"]; word++) {
        const auto value = [&](int64_t ni) {
          const Bits& entry = entries[ni][index];
          int64_t found = 0;
          for (int64_t i = 0; i < 4; i++) found |= 4 * word + i < int64_t(entry.size()) ? int64_t(entry[4 * word + i]) << 8 * i : 0;
          return found;
        };
        access(base + (int64_t(index) * n_["WINDOW_WORDS"] + word) * 4, true, value, int64_t(index));
      }
    }
  }

  // Whether a result that is due at a node is not what the collective promises.
  bool has_wrong_data(size_t ni) const {
    const int64_t bits = n_["GRANULE_BITS"];
    for (int64_t a = 0; a < n_["RESULT_GRANULES"]; a++) {
      const int64_t root = n_.list("ROOT")[a / n_["CHUNK_GRANULES"] % n_["FLOWS"]];
      if (!n_["GATHERS"] && root != int64_t(ni)) continue;
      Bits promised = n_["REDUCES"] ? Bits(bits / 8) : initial_granule(bits, root, a);
      for (size_t other = 0; other < nodes_.size() && n_["REDUCES"]; other++) {
        promised = added(promised, initial_granule(bits, other, a), n_["ELEMENT_BITS"] / 8);
      }
      if (nodes_[ni].cells.at(a) != promised) return true;
    }
    return false;
  }

  const Numbers& n_;
  VerilatedContext context_;
  std::vector<Node> nodes_;
  Network network_;
  std::ifstream trace_;
  int64_t late_, now_ = -1, events_ = 0, differences_ = 0;
  size_t said_ = 0;
  int refused_ = 0;
  std::vector<Seen> before_;
  std::vector<bool> is_said_;
  std::vector<int64_t> depths_;
};

}  // namespace

int main(int count, char** words) {
  if (count < 4) return 2;
  const Numbers numbers(words[1]);
  std::vector<int64_t> skew(numbers["NIS"]);
  if (count > 4) {
    std::ifstream file(words[4]);
    for (auto& cycles : skew) file >> std::hex >> cycles;
  }
  Bench bench(numbers, words[2], std::stoll(words[3]));
  bench.load(skew);
  const bool passed = bench.play();
  std::puts(passed ? "PASS" : "FAIL");
  return passed ? 0 : 1;
}
