#include "rup_checker.hpp"

#include <algorithm>

namespace certree {

RupChecker::RupChecker(int32_t variables, uint64_t most_steps)
    : values_(2 * (static_cast<size_t>(variables) + 1)),
      watching_(2 * (static_cast<size_t>(variables) + 1)),
      most_steps_(most_steps) {}

void RupChecker::assign(Literal literal) {
  values_[index(literal)] = 1;
  values_[index(-literal)] = -1;
  trail_.push_back(literal);
}

void RupChecker::undo(size_t length) {
  while (trail_.size() > length) {
    const Literal literal = trail_.back();
    values_[index(literal)] = values_[index(-literal)] = 0;
    trail_.pop_back();
  }
  next_ = length;
}

// False when a clause has all its literals false.
bool RupChecker::propagate() {
  while (next_ < trail_.size()) {
    const Literal falsified = -trail_[next_++];
    auto& watching = watching_[index(falsified)];
    size_t kept = 0, seen = 0;
    bool consistent = true;
    steps_ += 1 + watching.size();
    if (out_of_steps()) return true;
    for (; seen < watching.size() && consistent; ++seen) {
      auto& clause = clauses_[watching[seen]];
      if (clause.empty()) continue;
      if (clause[0] == falsified) std::swap(clause[0], clause[1]);
      if (is_true(clause[0])) {
        watching[kept++] = watching[seen];
        continue;
      }
      const auto other = std::find_if(clause.begin() + 2, clause.end(), [this](Literal literal) { return !is_false(literal); });
      if (other != clause.end()) {
        std::swap(clause[1], *other);
        watching_[index(clause[1])].push_back(watching[seen]);
        continue;
      }
      watching[kept++] = watching[seen];
      if (is_false(clause[0])) {
        consistent = false;
      } else {
        assign(clause[0]);
      }
    }
    for (; seen < watching.size(); ++seen) watching[kept++] = watching[seen];
    watching.resize(kept);
    if (!consistent) return false;
  }
  return true;
}

// Sorted, each literal once.
std::vector<Literal> RupChecker::tidy(const Literal* begin, const Literal* end) const {
  std::vector<Literal> literals(begin, end);
  std::sort(literals.begin(), literals.end());
  literals.erase(std::unique(literals.begin(), literals.end()), literals.end());
  return literals;
}

uint64_t RupChecker::hash(const std::vector<Literal>& literals) {
  uint64_t value = 0;
  for (const Literal literal : literals) value = (value ^ static_cast<uint32_t>(literal)) * 0x9E3779B97F4A7C15u + 1;
  return value;
}

void RupChecker::assume(const Literal* begin, const Literal* end) {
  auto literals = tidy(begin, end);
  const auto clause = static_cast<Clause>(clauses_.size());
  by_hash_[hash(literals)].push_back(clause);
  // Literals that may still be true come first: they are the ones to watch.
  std::stable_partition(literals.begin(), literals.end(), [this](Literal literal) { return is_true(literal); });
  std::stable_partition(literals.begin(), literals.end(), [this](Literal literal) { return !is_false(literal); });
  clauses_.push_back(literals);
  if (contradiction_) return;
  if (literals.size() > 1) {
    watching_[index(literals[0])].push_back(clause);
    watching_[index(literals[1])].push_back(clause);
  }
  if (literals.empty() || is_false(literals[0])) {
    contradiction_ = true;
  } else if (!is_true(literals[0]) && (literals.size() == 1 || is_false(literals[1]))) {
    assign(literals[0]);
    contradiction_ = !propagate();
  }
}

bool RupChecker::derive(const Literal* begin, const Literal* end) {
  if (contradiction_) return true;
  const size_t before = trail_.size();
  bool follows = false;
  for (const Literal* literal = begin; literal != end && !follows; ++literal) {
    if (is_true(*literal)) {
      follows = true;  // true already, or the clause has both signs of a variable
    } else if (!is_false(*literal)) {
      assign(-*literal);
    }
  }
  follows = follows || !propagate();
  undo(before);
  if (follows) assume(begin, end);
  return follows;
}

bool RupChecker::remove(const Literal* begin, const Literal* end) {
  const auto literals = tidy(begin, end);
  const auto found = by_hash_.find(hash(literals));
  if (found == by_hash_.end()) return false;
  auto& candidates = found->second;
  for (size_t i = 0; i < candidates.size(); ++i) {
    ++steps_;
    auto& clause = clauses_[candidates[i]];
    if (tidy(clause.data(), clause.data() + clause.size()) != literals) continue;
    clause.clear();
    clause.shrink_to_fit();
    candidates.erase(candidates.begin() + static_cast<std::ptrdiff_t>(i));
    return true;
  }
  return false;
}

RupAnswer check_rup(int32_t variables, const std::vector<Literal>& formula, const std::vector<Literal>& proof,
                    const std::vector<uint8_t>& deletes, uint64_t most_steps) {
  RupChecker checker(variables, most_steps);
  size_t line = 0;
  const auto answer = [&](RupResult result) {
    return RupAnswer{checker.out_of_steps() ? RupResult::out_of_steps : result, line, checker.steps()};
  };
  const auto clause_end = [](const std::vector<Literal>& all, size_t from) {
    while (all[from] != 0) ++from;
    return from;
  };
  for (size_t from = 0; from < formula.size();) {
    const size_t to = clause_end(formula, from);
    checker.assume(formula.data() + from, formula.data() + to);
    from = to + 1;
  }
  for (size_t from = 0; line < deletes.size() && !checker.contradiction() && !checker.out_of_steps(); ++line) {
    const size_t to = clause_end(proof, from);
    const Literal *begin = proof.data() + from, *end = proof.data() + to;
    if (deletes[line]) {
      if (!checker.remove(begin, end)) return answer(RupResult::nothing_to_delete);
    } else if (!checker.derive(begin, end)) {
      return answer(RupResult::not_implied);
    }
    from = to + 1;
  }
  return answer(checker.contradiction() ? RupResult::refuted : RupResult::no_contradiction);
}

}  // namespace certree
