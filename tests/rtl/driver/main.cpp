// Runs the tables of the folder it is started in: one Verilator model for each node, network and memories in C++. What the pins
// show is compared with the golden trace, event by event and cycle by cycle; then the data of every node are checked.
//
// driver NUMBERS TRACE LATE [SKEW [NEXT…]]: `NUMBERS` as tests.rtl.model writes it, the golden trace, late rows that it has, hex
// cycles that each interface starts late, and folders with the tables that take over, one after the other; each is loaded while the
// tables before it run.
// With SKEW and without NEXT, a file `SKEW.steps` has hex cycles of a step without rows, where interfaces have clocks of other
// speeds, and tables no epoch. Exit code 0 and PASS, 1 and FAIL, or 2 where it is called with something else.
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

std::string numbered(const std::string& name, int64_t node) {
  char text[32];
  std::snprintf(text, sizeof text, "_%04d.hex", int(node));
  return name + text;
}

// Tables: their folder, and its numbers.
struct Tables {
  std::string folder;
  Numbers numbers;
};

class Bench {
 public:
  Bench(const Tables& first, const std::vector<Tables>& next, const std::string& trace, int64_t late)
      : first_(first), next_(next), n_(first.numbers), network_(first.numbers), path_(trace), trace_(trace), late_(late) {
    std::string columns;
    if (!std::getline(trace_, columns)) throw std::runtime_error("cannot read " + trace);
    for (int64_t ni = 0; ni < n_["NIS"]; ni++) nodes_.emplace_back(&context_, n_, ni);
    before_.resize(nodes_.size());
    was_done_.resize(nodes_.size());
  }

  void start(const std::vector<int64_t>& skew, const std::vector<int64_t>& steps) {
    for (auto& node : nodes_) node.settle();
    for (int i = 0; i < 4; i++) cycle();
    for (auto& node : nodes_) node.pins->rst = 0;
    load(first_);
    for (int64_t l = 0; l < n_["TX_LANES"]; l++) {
      write(0x100 + 4 * l, [&](int64_t ni) { return n_.list("LANE_PEER")[ni * n_["TX_LANES"] + l]; });
    }
    write(0x10, [&](int64_t ni) { return skew[ni] + n_["START_CYCLES"]; });
    write(0x14, [&](int64_t ni) { return n_.list("NODE_OF")[ni]; });
    if (!steps.empty()) write(0x54, [&](int64_t ni) { return steps[ni]; });
    write(0x4, [](int64_t) { return 4; });  // arm
    for (int64_t i = 0; i < n_["ARM_CYCLES"]; i++) cycle();
    write(0x4, [](int64_t) { return 1; });  // start
    now_ = 0;
  }

  // Until all interfaces are done, with all tables.
  bool run() {
    int64_t limit = n_["TIME_LIMIT"];
    size_t ends = nodes_.size();
    for (size_t place = 0; place < next_.size(); place++) {
      while (now_ < limit && place > 0 && !n_["IS_LOCKSTEP"] && !have_opened(next_[place - 1])) cycle();
      load(next_[place]);
      write(0x4, [](int64_t) { return 4; });  // arm
      limit += next_[place].numbers["TIME_LIMIT"];
      if (n_["IS_LOCKSTEP"]) {
        change_over(limit, place);
        ends += nodes_.size();
      } else {
        ends = size_t(next_[place].numbers["ENDS"]);
      }
    }
    while (now_ < limit && said_ < ends) cycle();
    const bool is_done = said_ == ends;
    for (int i = 0; i < 4; i++) cycle();
    for (std::string line; std::getline(trace_, line);) differences_++;
    int64_t late_rows = 0, errors = 0;
    for (const auto value : read(0x18)) late_rows += value;
    const auto found = read(0x0c), mixed = read(0x24), epochs = read(0x20);
    for (size_t ni = 0; ni < nodes_.size(); ni++) {
      errors += (found[ni] & (late_ > 0 ? ~uint32_t(1) : ~uint32_t(0))) != 0 || (late_ == 0 && nodes_[ni].pins->has_error);
      wrong_ += has_wrong_data(ni, next_.size());
      if (found[ni] > 1) std::printf("node %d: error %x, epoch %u, mixed %u\n", int(ni), found[ni], epochs[ni], mixed[ni]);
    }
    std::printf(
        "%lld events, %lld differences; %lld cycles; %lld late rows; %lld nodes with errors, %lld with wrong data; %d faults, %d "
        "refused\n",
        (long long)events_, (long long)differences_, (long long)(cycles_ + now_), (long long)late_rows, (long long)errors,
        (long long)wrong_, network_.faults, refused_);
    return is_done && differences_ + errors + wrong_ + network_.faults + refused_ == 0 && late_rows == late_;
  }

 private:
  struct Seen {  // by the end of the cycle before
    bool is_done = false;
    std::vector<std::pair<int64_t, int64_t>> counts;  // line, iteration
  };

  // With slots: whether all interfaces execute these tables, or others behind them.
  bool have_opened(const Tables& tables) const {
    const auto& opens = tables.numbers.list("OPENS");
    return now_ > *std::max_element(opens.begin(), opens.end());
  }

  // In lockstep: all interfaces take over by themselves, each when it is done; then their new messages are there, and they start
  // (B8). `HASTY`: each is started as soon as it has taken over.
  void change_over(int64_t limit, size_t place) {
    const Tables& next = next_[place];
    const auto have_taken_over = [&] {
      const auto epochs = read(0x20);
      size_t ready = 0;
      for (size_t ni = 0; ni < nodes_.size(); ni++) ready += epochs[ni] == uint64_t(next.numbers.list("HEADER_OF")[0]);
      return ready == nodes_.size();
    };
    while (now_ < limit && !have_taken_over()) {
      if (next.numbers["HASTY"] && said_ > 0) write(0x4, [](int64_t) { return 1; });  // no start for those that run
    }
    if (next.numbers["HASTY"]) return;
    for (std::string line; std::getline(trace_, line);) differences_++;
    cycles_ += now_;
    now_ = -1;
    network_.restart();
    trace_ = std::ifstream(next.folder + "/" + path_);
    std::string columns;
    if (!std::getline(trace_, columns)) throw std::runtime_error("cannot read " + next.folder + "/" + path_);
    for (size_t ni = 0; ni < nodes_.size(); ni++) {
      wrong_ += has_wrong_data(ni, place);
      nodes_[ni].begin(int64_t(ni), int64_t(place) + 1);
      was_done_[ni] = false;
    }
    for (int64_t i = 0; i < next.numbers["ARM_CYCLES"]; i++) cycle();
    write(0x4, [](int64_t) { return 1; });  // start
    now_ = 0;
  }

  // An image into the bank that is not open: header, tables and CRC, in this order (B7).
  void load(const Tables& tables) {
    const auto& header = tables.numbers.list("HEADER_OF");
    const int64_t words = n_["HEADER_WORDS"];
    std::vector<std::vector<Bits>> rows, arrivals;
    std::vector<int64_t> crc;
    for (const auto node : n_.list("NODE_OF")) {
      rows.push_back(images(numbered(tables.folder + "/slots", node)));
      arrivals.push_back(images(numbered(tables.folder + "/arrivals", node)));
      const auto lines = images(numbered(tables.folder + "/slots_header", node));
      crc.push_back(lines.empty() ? 0 : int64_t(get(*lines.back().data(), 0, 32)));
    }
    if (tables.numbers["HAS_EPOCH"]) write(0x4, [](int64_t) { return 8; });
    for (int64_t word = 0; word < words; word++) write(0x40 + 4 * word, [&](int64_t ni) { return header[ni * words + word]; });
    window(0x100000, rows);
    window(0x200000, arrivals);
    if (tables.numbers["HAS_ROUTES"]) window(0x300000, std::vector(nodes_.size(), images(tables.folder + "/routes.hex")));
    if (tables.numbers["HAS_EPOCH"]) write(0x68, [&](int64_t ni) { return crc[ni]; });
  }

  void cycle() {
    std::vector<Network::Flit> coming;
    for (size_t place = 0; place < next_.size() && !n_["IS_LOCKSTEP"]; place++) {
      for (size_t ni = 0; ni < nodes_.size(); ni++) {
        if (now_ != next_[place].numbers.list("OPENS")[ni]) continue;
        wrong_ += has_wrong_data(ni, place);
        nodes_[ni].begin(int64_t(ni), int64_t(place) + 1);
      }
    }
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
    for (int64_t p = 0; p <= n_["WRITE_PORTS"]; p++) {
      if (!get(pins.counted, p, 1)) continue;
      const auto line = get(pins.counted_line, p * n_["LINE_BITS"], n_["LINE_BITS"]);
      before_[ni].counts.emplace_back(line, get(pins.counted_to, p * n_["COUNT_BITS"], n_["COUNT_BITS"]) - 1);
    }
    std::sort(before_[ni].counts.begin(), before_[ni].counts.end());
  }

  void compare(size_t ni) {
    const auto& pins = *nodes_[ni].pins;
    const int64_t rows = n_["WINDOW_ROWS"];
    int64_t from = 0;
    while (!get(pins.fired_from, from, 1)) from++;
    for (int64_t age = 0; age < rows; age++) {
      const int64_t w = (from + age) % rows;
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
    if (before_[ni].is_done && !was_done_[ni]) {
      event(ni, "done", -1, -1);
      said_++;
    }
    was_done_[ni] = before_[ni].is_done;
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
    for (auto& node : nodes_) node.settle();
    const auto is_waiting = [&] {
      for (size_t ni = 0; ni < nodes_.size(); ni++) {
        if (selected(ni) && !nodes_[ni].pins->pready) return true;
      }
      return false;
    };
    for (int waited = 0; is_waiting(); cycle()) {
      if (++waited > 1000) throw std::runtime_error("an interface is not ready after 1000 cycles");
    }
    for (size_t ni = 0; ni < nodes_.size(); ni++) {
      refused_ += selected(ni) && nodes_[ni].pins->pslverr;
      found.push_back(nodes_[ni].pins->prdata);
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

  // Whether a result that is due at a node is not what the collective promises that is the first, 0, or a later one.
  bool has_wrong_data(size_t ni, uint64_t collective) const {
    const Numbers& n = collective == 0 ? n_ : next_[collective - 1].numbers;
    const int64_t bits = n["GRANULE_BITS"];
    const auto given = [&](int64_t of, int64_t a) { return initial_granule(bits, uint64_t(of), (collective << 32) + uint64_t(a)); };
    for (int64_t b = 0; n["PROFILE"] == 1 && b < n["BLOCKS"]; b++) {
      const int64_t from = n.list("BLOCK_FROM")[b], at = n.list("BLOCK_AT")[b];
      for (int64_t g = 0; n.list("BLOCK_TO")[b] == int64_t(ni) && g < n.list("BLOCK_GRANULES")[b]; g++) {
        if (nodes_[ni].cells.at(at + g) != given(n.list("BLOCK_OF")[b], from + g)) return true;
      }
    }
    const auto& members = n.list("IS_MEMBER");
    for (int64_t a = 0; n["PROFILE"] != 1 && members[ni] && a < n["RESULT_GRANULES"]; a++) {
      const int64_t root = n.list("ROOT")[a / n["CHUNK_GRANULES"] % n["FLOWS"]];
      if (!n["GATHERS"] && root != int64_t(ni)) continue;
      Bits promised = n["REDUCES"] ? Bits(bits / 8) : given(root, a);
      for (size_t other = 0; other < nodes_.size() && n["REDUCES"]; other++) {
        if (members[other]) promised = added(promised, given(int64_t(other), a), n["ELEMENT_BITS"] / 8);
      }
      if (nodes_[ni].cells.at(a) != promised) return true;
    }
    return false;
  }

  const Tables& first_;
  const std::vector<Tables>& next_;
  const Numbers& n_;
  VerilatedContext context_;
  std::vector<Node> nodes_;
  Network network_;
  const std::string path_;
  std::ifstream trace_;
  int64_t late_, now_ = -1, cycles_ = 0, events_ = 0, differences_ = 0, wrong_ = 0;
  size_t said_ = 0;
  int refused_ = 0;
  std::vector<Seen> before_;
  std::vector<bool> was_done_;
  std::vector<int64_t> depths_;
};

}  // namespace

int main(int count, char** words) {
  if (count < 4) return 2;
  const Tables first{".", Numbers(words[1])};
  std::vector<int64_t> skew(first.numbers["NIS"]), steps;
  if (count > 4) {
    std::ifstream file(words[4]), of_steps(std::string(words[4]) + ".steps");
    for (auto& cycles : skew) file >> std::hex >> cycles;
    for (int64_t cycles; of_steps >> std::hex >> cycles;) steps.push_back(cycles);
  }
  if (!steps.empty() && first.numbers["HAS_EPOCH"]) {
    std::fprintf(stderr, "%s.steps: SLOT_CYCLES of images with an epoch is under their CRC\n", words[4]);
    return 2;
  }
  std::vector<Tables> next;
  for (int i = 5; i < count; i++) next.push_back({words[i], Numbers(std::string(words[i]) + "/numbers.txt")});
  Bench bench(first, next, words[2], std::stoll(words[3]));
  bench.start(skew, steps);
  const bool passed = bench.run();
  std::puts(passed ? "PASS" : "FAIL");
  return passed ? 0 : 1;
}
