"""Errors planted in a copy of the definitions, the checker or other statements, each of which stops a proof.

`python -m tests.extras.proved.planted` prints where. An error that stopped none would be one that no theorem excludes. The converse
does not follow: a proof stops where its steps no longer fit, also if what it proves is still true. `ONLY_A_LEMMA` has the errors of
which that is so; of the others no counterexamples are kept.
"""

import re
import shutil
import tempfile
from dataclasses import dataclass
from pathlib import Path

from certree.extras.proved.run.proved_program import MODULES, ProofError, compile_proofs, sources
from tools.proofs import ALL

_PLACE = re.compile(r'File "\./(\w+)\.v", line (\d+)')
_PROVED = re.compile(r"(?:Lemma|Theorem) (\w+)")


@dataclass(frozen=True)
class Planted:
    """One error: in `module` the text `old` becomes `new`; `stops` is the lemma whose proof then fails, `Module.lemma`."""

    name: str
    module: str
    old: str
    new: str
    stops: str
    modules: tuple[str, ...] = MODULES

    def applied(self) -> str:
        """The module with the error; AssertionError unless it has the text once."""
        text = (sources() / f"{self.module}.v").read_text()
        assert text.count(self.old) == 1, (self.name, text.count(self.old))
        return text.replace(self.old, self.new)

    def stopped(self) -> str:
        """Where the proofs stop, `Module.lemma`; "nowhere" where they do not."""
        with tempfile.TemporaryDirectory() as folder:
            source, built = Path(folder, "source"), Path(folder, "built")
            shutil.copytree(sources(), source)
            (source / f"{self.module}.v").write_text(self.applied())
            try:
                compile_proofs(built, self.modules, source)
            except ProofError as error:
                module, line = _PLACE.search(str(error)).groups()  # type: ignore[union-attr]
                before = (source / f"{module}.v").read_text().splitlines()[: int(line)]
                return f"{module}.{([*_PROVED.findall(chr(10).join(before))] or ['no proof'])[-1]}"
        return "nowhere"


def _definitions(name: str, old: str, new: str, stops: str) -> Planted:
    return Planted(name, "Definitions", old, new, stops)


def _checker(name: str, old: str, new: str, stops: str) -> Planted:
    return Planted(name, "Checker", old, new, stops)


def _bounds(name: str, module: str, old: str, new: str, stops: str) -> Planted:
    return Planted(name, module, old, new, stops, ALL)


PLANTED = (
    _definitions("a copy adds", "Copy => v | Reduce", "Copy => plus (held m (target t)) v | Reduce", "Contents.agree_land"),
    _definitions("a reduce doubles", "Reduce => plus (held m (target t)) v end", "Reduce => plus v v end", "Contents.agree_land"),
    _definitions("a send reads its target", "then held m (source t)", "then held m (target t)", "Contents.agree_send"),
    _definitions(
        "data may be late by a step",
        "Land t, Send u => step t + d <= step u",
        "Land t, Send u => step t + d < step u",
        "Sound.landings_in_turn",
    ),
    _definitions("held data may land early", "Held => step t < step u + d", "Held => step t <= step u", "Sound.inverted_free"),
    _definitions(
        "held data must wait for later sends", "Held => step t < step u + d", "Held => step t <= step u + d", "Sound.canonical_run"
    ),
    _definitions(
        "landings in any order",
        "Held => step t < step u | Early => False",
        "Held => False | Early => False",
        "Sound.landings_in_turn",
    ),
    _definitions(
        "early data may come before the sends of their step",
        "Early => step t <= step u end",
        "Early => step t < step u end",
        "Sound.landings_in_turn",
    ),
    _definitions("runs may leave events out", "Permutation (events s) r /\\", "incl r (events s) /\\", "Sound.canonical_run"),
    _definitions(
        "links the other way",
        "(tail k =? a) && (head k =? b) then width",
        "(tail k =? b) && (head k =? a) then width",
        "Keys.width_between",
    ),
    _definitions("one iteration more", "/ period s <? repeats s", "/ period s <=? repeats s", "Loads.shown"),
    _definitions(
        "a message is longer", "then size_of s t * N.of_nat", "then N.succ (size_of s t) * N.of_nat", "Loads.load_bounded"
    ),
    _definitions("steps without rounds", "Some r => r | None => 1 end", "Some r => r | None => 0 end", "Loads.rounds_at_spec"),
    _definitions(
        "switches start with anything",
        "(at_place (nodes (net s)) (node c) = Some Reducing -> held m c = None)",
        "True",
        "Contents.agree_start",
    ),
    _definitions("buffer 1 starts full", "buffer c = 0 -> is_one_of", "buffer c = 1 -> is_one_of", "Contents.agree_start"),
    _definitions("nothing absorbs", "None, v | v, None => v", "None, _ | _, None => None", "Contents.value_lor"),
    _definitions("the result is that of others", "| Alone a => [a] end", "| Alone a => [N.succ a] end", "Contents.value_full"),
    _definitions("due in a scratch buffer", "held m (Cell n 0 c)", "held m (Cell n 1 c)", "Contents.canonical_result"),
    _definitions("operations that do not commute", "(forall a b, add a b = add b a) ->", "", "Sound.check_at_sound"),
    _definitions(
        "operations that do not associate", "(forall a b c, add a (add b c) = add (add a b) c) ->", "", "Sound.check_at_sound"
    ),
    _bounds(
        "links count half",
        "Distances",
        "offered : N := add_up (fun k => far (tail k) (head k) * width k)",
        "offered : N := add_up (fun k => far (tail k) (head k) * (width k / 2))",
        "Distances.offered_pairs",
    ),
    _bounds(
        "what is due inside has to leave",
        "Bounds",
        "Everyone => existsb (fun n => negb (A n))",
        "Everyone => existsb (fun n => A n)",
        "Bounds.cut_sound",
    ),
    _bounds(
        "one message more",
        "Bounds",
        "| Everyone, Everyone => 2 * (p - 1)",
        "| Everyone, Everyone => 2 * p - 1",
        "Bounds.parts_need",
    ),
    _bounds(
        "gathering into parts that hold it",
        "Bounds",
        "| Everyone, Alone _ | Alone _, Everyone => p - 1",
        "| Everyone, Alone _ | Alone _, Everyone => p",
        "Bounds.parts_need",
    ),
    _bounds(
        "links shorter than the distance",
        "Bounds",
        "far (tail k) (head k) <= length)",
        "length <= far (tail k) (head k))",
        "Bounds.metric_sound",
    ),
    _bounds(
        "parts that a distance joins",
        "Bounds",
        "part t a <> part t b -> t < far a b) ->",
        "part t a <> part t b -> t <= far a b) ->",
        "Bounds.metric_sound",
    ),
    _bounds(
        "distances that a detour shortens",
        "Distances",
        "shortest : forall a b c, far a c <= far a b + far b c.",
        "shortest : forall a b c, far a c <= far a b + far b c + 1.",
        "Distances.chain_goes",
    ),
    _bounds(
        "labels that rise by two",
        "Hops",
        "(if is_endpoint s (head k) then 1 else 0)",
        "(if is_endpoint s (head k) then 2 else 0)",
        "Hops.chain_of_switches",
    ),
    _bounds(
        "labels that rise at switches", "Hops", "(if is_endpoint s (head k) then 1 else 0).\n", "1.\n", "Hops.chain_of_switches"
    ),
    _bounds(
        "a step more", "Hops", "(label n - 1) * delay s <= step u.", "(label n - 1) * delay s < step u.", "Hops.distance_sound"
    ),
    _bounds(
        "routes of any length",
        "Hops",
        "via u = Some route -> exists l, route = [l].",
        "via u = Some route -> route <> [].",
        "Hops.one_hop",
    ),
    _bounds(
        "steps of the first iteration only",
        "Distances",
        "i < repeats s -> In (step u + i * period s) l",
        "i < 1 -> In (step u + i * period s) l",
        "Distances.every_iteration",
    ),
    _bounds("numbers that stay", "Deadlock", "a < b /\\ rises rest", "a <= b /\\ rises rest", "Deadlock.rises_nth"),
    _bounds(
        "channels without room",
        "Deadlock",
        "Hypothesis has_room : forall c, 0 < room c.",
        "Hypothesis has_room : forall c, 0 <= room c.",
        "Deadlock.draining_moves",
    ),
    _bounds(
        "waits in mid message",
        "Deadlock",
        "starts : f = 0 -> p m f = 0 -> may_start p m;",
        "starts : may_start p m;",
        "Deadlock.draining_moves",
    ),
    _bounds(
        "waits among equals",
        "Deadlock",
        "In n messages -> rank n < rank m -> has_arrived p n)",
        "In n messages -> rank n <= rank m -> has_arrived p n)",
        "Deadlock.deadlock_sound",
    ),
    _bounds(
        "heads into channels of others",
        "Deadlock",
        "n <> m -> ~ holds p n c) /\\ inside",
        "n <> m -> holds p n c \\/ True) /\\ inside",
        "Deadlock.invariant_moved",
    ),
    _checker("keys without their end", "| xH => xI b", "| xH => xO b", "Keys.pair_key_injective"),
    _checker("sums may overlap", "(N.land y x =? 0) && (negb", "(negb", "Contents.agree_land"),
    _checker("a reduce into nothing", "(negb (y =? 0) || is_accumulator t (target u))", "true", "Contents.agree_land"),
    _checker("an empty cell may be sent", "if x =? 0 then None else", "if false then None else", "Contents.agree_send"),
    _checker("copies may meet reduces", "Copy => any_until k | Reduce", "Copy => copy_until k | Reduce", "Order.landing_apart"),
    _checker("copies may meet in one step", "match m with Held => 1", "match m with Held => 0", "Order.landing_apart"),
    _checker(
        "a cell may be sent while it is written",
        "Early => number_at (sent_from k) c <=? step t end",
        "Early => true end",
        "Order.sending_apart",
    ),
    _checker("events in any order", "if clock <=? moment d e then", "if true then", "Order.ticks"),
    _checker("a stage is left out", "N.min (repeats s) (N.succ (", "N.min (repeats s) ((", "Loads.shown"),
    _checker(
        "links carry one more", "<=? limit t (snd e) * rounds_at", "<=? N.succ (limit t (snd e)) * rounds_at", "Loads.links_sound"
    ),
    _checker("long messages in short steps", "|| (size_at t u <=? rounds_at t (step u))", "|| true", "Loads.links_sound"),
    _checker("scratch buffers start full", "if buffer c =? 0\n", "if true\n", "Contents.agree_start"),
    _checker(
        "one place is enough",
        "Everyone => forallb (fun n => content",
        "Everyone => existsb (fun n => content",
        "Contents.finished_chunks",
    ),
    _checker("chunk 0 for all", "m (N.succ c) rest", "m c rest", "Contents.finished_chunks"),
    _checker("numbers twice", "is_rising (N.succ n) rest", "is_rising n rest", "Keys.is_rising_spec"),
    _bounds(
        "rows that wait for one message less",
        "Lockstep",
        "(wait t <= counted h i (source t))%nat -> may h",
        "(pred (wait t) <= counted h i (source t))%nat -> may h",
        "Lockstep.kept_next",
    ),
    _bounds(
        "messages that land before they are sent",
        "Lockstep",
        "| land : forall i t, In (i, Send t) h -> ~ In (i, Land t) h",
        "| land : forall i t, is_row i t -> ~ In (i, Land t) h",
        "Lockstep.event_of",
    ),
    _bounds(
        "rows that fire in any order",
        "Lockstep",
        "slot j u < slot i t -> In (j, Send u) h) ->\n      (wait",
        "slot j u < slot i t -> is_row j u) ->\n      (wait",
        "Lockstep.kept_next",
    ),
    _bounds(
        "rows that fire twice",
        "Lockstep",
        "| fire : forall i t, is_row i t -> ~ In (i, Send t) h ->",
        "| fire : forall i t, is_row i t ->",
        "Lockstep.once",
    ),
    _bounds(
        "chains that nothing that is read needs",
        "Lockstep",
        "(step t <? step u + delay s) then",
        "(step t <? step u) then",
        "Lockstep.waits_sound",
    ),
    _bounds(
        "chains that copies do not need", "Lockstep", "(is_copy t || is_copy u) then", "is_copy t then", "Lockstep.waits_sound"
    ),
    _bounds(
        "rows that know what later ones know",
        "Lockstep",
        "&& (step u <? step t).",
        "&& (step u <=? step t).",
        "Lockstep.learn_known",
    ),
    _bounds(
        "counters that want one message more of iterations before",
        "Lockstep",
        "j < fst x -> (wait t <= counted h j (source t))%nat",
        "j < fst x -> (wait t < counted h j (source t))%nat",
        "Lockstep.due_rows_fire",
    ),
    _bounds(
        "counters that are used again a slot early",
        "Lockstep",
        "step u < step t + w * period s",
        "step u <= step t + w * period s",
        "Lockstep.due_rows_count_again",
    ),
    _bounds(
        "copies that wait until their parent has sent",
        "Lockstep",
        "op c = Copy -> In (i, Land c) h) -> may_in_trees",
        "op c = Copy -> In (i, Send c) h) -> may_in_trees",
        "Lockstep.trees_wait_for_enough",
    ),
    _bounds(
        "sums that come with the copy",
        "Lockstep",
        "op u = Reduce -> step u < step c.",
        "op u = Reduce -> step u <= step c.",
        "Lockstep.trees_wait_for_enough",
    ),
    _bounds(
        "messages that may land together",
        "Additions",
        "(step u + d) until)",
        "(step u) until)",
        "Additions.landings_apart",
    ),
    _bounds("sums without what came", "Additions", "Some y => put (Sum y x)", "Some y => put (Sum y y)", "Additions.spelled_next"),
    _bounds(
        "sums alike in part", "Additions", "same_sum a c && same_sum b d", "same_sum a c || same_sum b d", "Additions.same_sum_eq"
    ),
    _bounds("sums that are not compared", "Additions", "then Some e else None", "then Some e else Some e", "Additions.sum_at_spec"),
    _bounds(
        "sums into empty memory",
        "Additions",
        "if is_accumulator t (target u) then put x else None",
        "put x",
        "Additions.spelled_next",
    ),
    _bounds("slots without room for skew", "Slots", "(most + skew <=? slot_length", "(most <=? slot_length", "Slots.check_parts"),
    _bounds(
        "links without a guard", "Slots", "busy + stagger + skew <= slot_length", "busy + stagger <= slot_length", "Slots.one_slot"
    ),
    _bounds(
        "what is read may be overwritten a cycle early",
        "Slots",
        "(skew + slot_length * step t <? slot_length * step u + least)",
        "(skew + slot_length * step t <=? slot_length * step u + least)",
        "Slots.check_parts",
    ),
    _bounds(
        "copies that skew brings out of turn",
        "Slots",
        "(skew + slot_length * step t + most <?",
        "(slot_length * step t + most <?",
        "Slots.check_parts",
    ),
    _checker("no delay", "(1 <=? delay s) && ", "", "Sound.form_parts"),
    _checker(
        "members that are switches",
        "Some Endpoint => true | _ => false end) (members s)",
        "_ => true end) (members s)",
        "Sound.form_parts",
    ),
    _checker(
        "blocks that nobody asked for",
        "Alone a, Alone b => agrees (key a b) | _, _ => true end",
        "_, _ => true end",
        "Keys.blocks_sound",
    ),
)


#: errors that stop the proof of a lemma while the theorems hold, by name, with the reason
ONLY_A_LEMMA = {
    "sums that come with the copy": "proved by hand: the checker refuses a sum and a copy that are sent to one cell in one step",
    "no delay": "by reading: what would land in its own step lands before it is sent, which the contents refuse",
    "sums into empty memory": "by reading: the checker, which `order_sound` asks for, refuses a reduce into nothing",
}


def main() -> None:
    """A line for each error."""
    for error in PLANTED:
        only = f" (only this: {ONLY_A_LEMMA[error.name]})" if error.name in ONLY_A_LEMMA else ""
        print(f"{error.module}: {error.name}: {error.stopped()}{only}", flush=True)


if __name__ == "__main__":
    main()
