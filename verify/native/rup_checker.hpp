// A forward checker of refutations: every added clause must follow from those before it by unit propagation alone (RUP).
#pragma once

#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <vector>

namespace certree {

using Literal = int32_t;  // +v or -v, v >= 1

enum class RupResult {
  refuted,            // the empty clause follows
  not_implied,        // an added clause does not follow by unit propagation
  nothing_to_delete,  // a deleted clause is not present
  no_contradiction,   // all lines are correct, but nothing is refuted
  out_of_steps,       // undecided: the budget was spent at this line
};

// Keeps every clause that is not deleted, and the literals that follow from them by unit propagation alone. Derived literals stay:
// each clause is implied by the formula, so literals that followed from a clause remain true after it is deleted.
class RupChecker {
 public:
  RupChecker(int32_t variables, uint64_t most_steps);

  // Add a clause without a check. Literals must lie in 1..variables, in either sign.
  void assume(const Literal* begin, const Literal* end);
  // Whether the clause follows; it is kept if so.
  bool derive(const Literal* begin, const Literal* end);
  // Whether there was such a clause; it is removed if so.
  bool remove(const Literal* begin, const Literal* end);

  bool contradiction() const { return contradiction_; }
  // Clauses visited so far. Once they are more than the budget, answers mean nothing.
  uint64_t steps() const { return steps_; }
  bool out_of_steps() const { return steps_ > most_steps_; }

 private:
  using Clause = uint32_t;

  size_t index(Literal literal) const { return 2 * static_cast<size_t>(literal < 0 ? -literal : literal) + (literal < 0); }
  bool is_true(Literal literal) const { return values_[index(literal)] > 0; }
  bool is_false(Literal literal) const { return values_[index(literal)] < 0; }
  void assign(Literal literal);
  bool propagate();
  void undo(size_t length);
  std::vector<Literal> tidy(const Literal* begin, const Literal* end) const;
  static uint64_t hash(const std::vector<Literal>& literals);

  std::vector<int8_t> values_;                 // by literal: 1 true, -1 false, 0 open
  std::vector<Literal> trail_;                 // what is true, in the order of its derivation
  size_t next_ = 0;                            // of the trail, the first that was not propagated yet
  std::vector<std::vector<Clause>> watching_;  // by literal: clauses of two literals or more that watch it
  std::vector<std::vector<Literal>> clauses_;  // the first two literals are watched; empty when deleted
  std::unordered_map<uint64_t, std::vector<Clause>> by_hash_;
  bool contradiction_ = false;
  uint64_t steps_ = 0, most_steps_;
};

struct RupAnswer {
  RupResult result;
  size_t line;     // that failed, or completed the refutation, or at which the budget was spent
  uint64_t steps;  // clauses visited
};

// Checks a proof line by line. `formula` and `proof`: literals of clauses, each ended by 0; `deletes`: one flag for each line.
RupAnswer check_rup(int32_t variables, const std::vector<Literal>& formula, const std::vector<Literal>& proof,
                    const std::vector<uint8_t>& deletes, uint64_t most_steps);

}  // namespace certree
