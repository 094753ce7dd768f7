"""Every conjunct of a guard, every fairness and every initial value has its edits."""

from tools.specs.definitions import module_of
from tools.specs.guard_edits import actions_of, guard_edits_of
from tools.specs.mutants import source_of

MODULE = module_of(
    "M",
    """---- MODULE M ----
EXTENDS Integers
VARIABLES x, y
Init ==
  /\\ x = 0
  /\\ y = {}
Step(k) ==
  /\\ IF k = 1 /\\ x < 2
     THEN /\\ IsSmall:: x < 3
          /\\ y = {}
     ELSE TRUE
  /\\ x' = x + k
  /\\ UNCHANGED y
Again == x = 2 /\\ Step(1)
Chosen ==
  LET one == CHOOSE k \\in 1..2 : k = 1 /\\ x = k
      isOne(k) == k = one
      two == 2
  IN  isOne(x)
Next == (\\E k \\in 1..2 : Step(k)) \\/ Again
Spec == Init /\\ [][Next]_<<x, y>> /\\ SF_x(Step(1)) /\\ WF_x(Next)
====
""",
)


def edits(name: str, **neighbours: list[str]) -> set[tuple[str, str]]:
    given = {"{}": neighbours["empty"]} if neighbours else {}
    return {(edit.kind, edit.after) for edit in guard_edits_of(MODULE, [name], actions_of([MODULE]), given)}


def test_actions_say_something_about_the_next_state_also_by_others() -> None:
    assert actions_of([MODULE]) == {"Step", "Again", "Next", "Spec"}


def test_conjuncts_also_behind_words_and_labels_and_no_actions() -> None:
    assert edits("Step") == {
        ("conjunct dropped", "/\\ TRUE"),
        ("conjunct dropped", "/\\ IF TRUE /\\ x < 2"),
        ("conjunct dropped", "/\\ IF k = 1 /\\ TRUE"),
        ("conjunct dropped", "THEN /\\ IsSmall:: TRUE"),
        ("update left out", "/\\ x' = x"),
    }
    assert edits("Again") == {("conjunct dropped", "TRUE /\\ Step(1)")}


def test_a_conjunct_ends_where_the_next_definition_begins() -> None:
    assert edits("Chosen") == {
        ("conjunct dropped", "LET one == CHOOSE k \\in 1..2 : TRUE /\\ x = k"),
        ("conjunct dropped", "LET one == CHOOSE k \\in 1..2 : k = 1 /\\ TRUE"),
    }


def test_initial_values_and_fairness() -> None:
    assert edits("Init", empty=["{1}"]) == {
        ("initial neighbour", "/\\ x = 1"),
        ("initial neighbour", "/\\ x = (-1)"),
        ("initial neighbour", "/\\ y = {1}"),
    }
    assert edits("Spec") == {
        ("fairness weakened", "Init /\\ [][Next]_<<x, y>> /\\ WF_x(Step(1)) /\\ WF_x(Next)"),
        ("fairness weakened", "Init /\\ [][Next]_<<x, y>> /\\ TRUE /\\ WF_x(Next)"),
        ("fairness weakened", "Init /\\ [][Next]_<<x, y>> /\\ SF_x(Step(1)) /\\ TRUE"),
    }


def test_faults_that_were_made_by_hand_are_among_them() -> None:
    """A head may take a full virtual channel that is not for it; a counter may advance in the tick in which a row fires."""
    for name, definition, after in (
        ("SubPacketFlow", "TakeFull", "/\\ owner[Route[w][h]][v] = Nobody /\\ TRUE"),
        ("NILockstep", "Fire", "/\\ counter' = counter"),
    ):
        module = module_of(name, source_of(name))
        assert after in {edit.after for edit in guard_edits_of(module, [definition], actions_of([module]), {})}


def test_first_numbers_have_neighbours_and_indices_have_none() -> None:
    text = "---- MODULE N ----\nVARIABLE x\nInit == x = [[a |-> 0] EXCEPT ![5] = 7]\n====\n"
    module = module_of("N", text)
    found = {edit.after for edit in guard_edits_of(module, ["Init"], set(), {})}
    assert found == {f"x = [[a |-> {first}] EXCEPT ![5] = {last}]" for first, last in (("1", 7), ("(-1)", 7), (0, 8), (0, 6))}
