"""Rules `not-held`, `duplicate`, `original-lost`, `missing`, `overwritten` and `causality`: the faults that the abstract machine
found, chunk by chunk."""

import numpy as np

from certree.models.schedule.schedule import Schedule
from certree.verify.rule import Stage, check, rule
from certree.verify.rules.contributions import Outcome, execute
from certree.verify.rules.history import START, Replay, ranks_of
from certree.verify.rules.obligations import EVERYONE, Promise
from certree.verify.rules.tree_proof import flows_along_trees
from certree.verify.rules.wiring import Flags, check_writes, executable_rows
from certree.verify.verdict import Findings
from certree.verify.wording import buffer_text, contributions_text, row_text, row_with_step

EXPLAINED = 100  # reduces that count something twice and are explained: each may take a replay of its chunk


@check(stage=Stage.CONTENTS, base_suffices=True)
def check_contents(schedule: Schedule, findings: Findings) -> None:
    """Report wrong contents of cells; schedules along trees need no execution (`tree_proof`)."""
    executable = executable_rows(schedule)
    if not (executable.all() and flows_along_trees(schedule)):
        check_semantics(schedule, findings, check_writes(schedule, findings, executable))


def check_semantics(schedule: Schedule, findings: Findings, executed: Flags) -> None:
    """Execute the flagged rows and report the faults."""
    promise = Promise.of(schedule)
    outcome = execute(schedule, promise, executed)
    teller = _Teller(schedule, promise, executed, findings)
    findings.add_each("not-held", outcome.empty_source.tolist(), teller.tell_empty_source)
    findings.add_each("not-held", outcome.empty_target.tolist(), teller.tell_empty_target)
    doubled = outcome.doubled.tolist()
    lost = [row for row in doubled[:EXPLAINED] if schedule.buffers > 1 and teller.lost_original(row) is not None]
    findings.add_each("original-lost", lost, teller.tell_original_lost)
    findings.add_each(
        "duplicate", [row for row in doubled[:EXPLAINED] if row not in lost] + doubled[EXPLAINED:], teller.tell_duplicate
    )
    teller.add_unmet(outcome)


Told = tuple[int, tuple[int, ...], str]  # step, rows, message of a violation


class _Teller:
    """Writes the messages of violations; executes each chunk that it explains once."""

    def __init__(self, schedule: Schedule, promise: Promise, executed: Flags, findings: Findings) -> None:
        self.schedule, self.promise, self.executed, self.findings = schedule, promise, executed, findings
        self._replays: dict[int, Replay] = {}

    def replay(self, chunk: int) -> Replay:
        if chunk not in self._replays:
            self._replays[chunk] = Replay(self.schedule, self.promise, self.executed, chunk)
        return self._replays[chunk]

    def nodes(self, chunk: int, contributions: int) -> list[int]:
        """The nodes of these contributions."""
        holder = int(self.promise.holder[chunk])
        ranks = ranks_of(contributions) if holder == EVERYONE else [holder]
        return [int(node) for node in self.schedule.topology.endpoints[ranks]]

    @rule(
        "not-held",
        "the source holds nothing to send, such as a buffer that is read before it is written, or the destination of a reduce is "
        "an endpoint that holds nothing to add to",
        "ring:4 broadcast@0: copy 0 0>1 @0; copy 0 1>2 @0; copy 0 0>3 @1; copy 0 3>2 @2",
    )
    def tell_empty_source(self, row: int) -> Told:
        """A transfer that leaves before its source holds anything."""
        schedule = self.schedule
        step, replay = int(schedule.step[row]), self.replay(int(schedule.chunk[row]))
        arrivals = [(time, by) for time, held, by in replay.history[replay.source(row)] if held and time > step]
        when = "it never does"
        if arrivals:
            time, by = arrivals[0]
            when = f"it lands there in step {time}, by {row_with_step(schedule, by)}"
        where = buffer_text(schedule, row, source=True)
        return step, (row,), f"step {step}: {row_text(schedule, row)}: {where} does not hold it yet; {when}"

    def tell_empty_target(self, row: int) -> Told:
        """A reduce into nothing."""
        step, where = int(self.schedule.step[row]), buffer_text(self.schedule, row)
        message = f"step {step}: {row_text(self.schedule, row)}: {where} holds nothing of it to add to; a copy is needed"
        return step, (row,), message

    @rule(
        "duplicate",
        "a reduce counts a contribution a second time",
        "ring:3 reduce@2: reduce 0 0>1 @0; reduce 0 1>2 @1; reduce 0 0>2 @2",
    )
    def tell_duplicate(self, row: int) -> Told:
        """A reduce that counts something twice."""
        chunk, step = int(self.schedule.chunk[row]), int(self.schedule.step[row])
        replay = self.replay(chunk)
        twice = replay.found[row] & replay.carried[row]
        first = replay.brought_by(row, ranks_of(twice)[0])
        since = "the start" if first == START else row_with_step(self.schedule, first)
        message = (
            f"step {step}: {row_text(self.schedule, row)} counts {contributions_text(self.nodes(chunk, twice))} a second "
            f"time; {buffer_text(self.schedule, row)} has counted that of node {self.nodes(chunk, twice)[0]} since {since}"
        )
        return step, (row,) if first == START else (row, first), message

    def lost_original(self, row: int) -> int | None:
        """The transfer that first changed the contents of the data buffer that a reduce leaves. None unless the buffer is of an
        endpoint, the reduce counts something twice, and would not if it carried that endpoint's own contribution alone."""
        schedule, replay = self.schedule, self.replay(int(self.schedule.chunk[row]))
        rank, changes = int(schedule.topology.rank[schedule.src[row]]), replay.history[replay.source(row)]
        if rank < 0 or replay.source(row) != replay.data(int(schedule.src[row])) or self.promise.holder[replay.chunk] != EVERYONE:
            return None
        changed = [by for time, _, by in changes[1:] if time <= schedule.step[row]]
        return changed[0] if changed and not replay.found[row] >> rank & 1 else None

    @rule(
        "original-lost",
        "with several buffers: a reduce counts a contribution a second time because the data buffer that it leaves no longer holds "
        "its node's own contribution alone; a copy of that in a scratch buffer would do",
        "full:3 all-reduce buffers=2: reduce 0 1>0 @0; reduce 0 2>0 @0; reduce 0 0>1 @0; reduce 0 2>1 @0; reduce 0 1>2 @0; "
        "reduce 0 0>2 @1",
    )
    def tell_original_lost(self, row: int) -> Told:
        """The violation by a reduce whose data buffer no longer holds an original: step, rows and message."""
        schedule, step, first = self.schedule, int(self.schedule.step[row]), self.lost_original(row)
        assert first is not None
        message = (
            f"step {step}: {row_text(schedule, row)} no longer finds the contribution of node {schedule.src[row]} alone in "
            f"{buffer_text(schedule, row, source=True)}, since {row_with_step(schedule, first)} has landed there"
        )
        return step, (row, first), message

    def add_unmet(self, outcome: Outcome) -> None:
        """Report cells that are incomplete at the end: `causality` where a transfer left too early; with several buffers
        `overwritten` where a copy replaced data that was needed; otherwise `missing`."""
        early: set[tuple[int, int]] = set()
        carried_nothing = set(outcome.empty_source.tolist())  # reported already
        listed = 0
        for cell in outcome.unmet.tolist():
            chunk, rank = divmod(cell, self.promise.places)
            node = int(self.schedule.topology.endpoints[rank])
            replay = self.replay(chunk)
            lacking = self.promise.complete_number & ~replay.at_end(node)
            pair = replay.too_early(node, ranks_of(lacking)[0])
            listed += 1
            if pair is None:
                if not self._tell_overwritten(replay, node, lacking):
                    self._tell_missing(replay, node, lacking)
            elif pair not in early and pair[0] not in carried_nothing:
                early.add(pair)
                self._tell_early(replay, node, lacking, *pair)
        self.findings.add_unlisted("missing", outcome.unmet_count - listed)

    @rule(
        "overwritten",
        "with several buffers: something is missing in the end because a copy replaced what held it while it was still needed",
        "full:3 reduce@1 buffers=2: copy 0 0.0>1.1 @0; copy 0 2.0>1.1 @1; reduce 0 1.1>1.0 @2",
    )
    def _tell_overwritten(self, replay: Replay, node: int, lacking: int) -> bool:
        """Whether a copy is the cause, which is then reported; never in a schedule with one buffer, where this is `missing`."""
        schedule, rank = self.schedule, ranks_of(lacking)[0]
        if schedule.buffers == 1:
            return False
        lost, late = replay.lost_by(node, rank), replay.too_late(node, rank)
        rows = late or (() if lost is None else (lost,))
        if not rows:
            return False
        step, by = int(schedule.step[rows[-1]]), row_with_step(schedule, rows[-1])
        whose = contributions_text(self.nodes(replay.chunk, 1 << rank))
        what = f"{by} replaced {whose} in {buffer_text(schedule, rows[-1])}"
        if late is not None:
            what += f" before {row_with_step(schedule, late[0])} left it"
        self.findings.add("overwritten", step, rows, f"at the end: chunk {replay.chunk}: node {node} lacks {whose}: {what}")
        return True

    @rule(
        "missing",
        "a node lacks data or contributions at the end, for another reason than `causality`",
        "mesh:1x3 all-reduce: reduce 0 0>1 @0; reduce 0 2>1 @0; copy 0 1>0 @1",
    )
    def _tell_missing(self, replay: Replay, node: int, lacking: int) -> None:
        schedule, rank = self.schedule, ranks_of(lacking)[0]
        owner = self.nodes(replay.chunk, 1 << rank)[0]
        mine = self.executed & (schedule.chunk == replay.chunk)
        loss = replay.lost_by(node, rank)
        if loss is not None:
            why = f"{row_with_step(schedule, loss)} replaced what held it"
        elif not (mine & (schedule.dst == node)).any():
            why = f"no transfer brings chunk {replay.chunk} to node {node}"
        elif not any(replay.carried[row] >> rank & 1 for row in np.flatnonzero(mine & (schedule.src == owner)).tolist()):
            why = f"no transfer takes it away from node {owner}"
        else:
            why = f"nothing that arrives at node {node} contains it"
        whose = contributions_text(self.nodes(replay.chunk, lacking))
        message = (
            f"at the end: chunk {replay.chunk}: node {node} lacks {whose}; that of node {owner}: {why}"
            if self.promise.contributions > 1
            else f"at the end: node {node} has no copy of chunk {replay.chunk} of node {owner}: {why}"
        )
        self.findings.add("missing", schedule.steps, () if loss is None else (loss,), message)

    @rule(
        "causality",
        "a node lacks data or contributions at the end because a transfer left before the data that it had to pass on arrived; "
        "sent later, it would have carried them without counting anything twice",
        "mesh:1x3 all-reduce: reduce 0 0>1 @0; reduce 0 2>1 @0; copy 0 1>0 @0; copy 0 1>2 @1",
    )
    def _tell_early(self, replay: Replay, node: int, lacking: int, row: int, later: int) -> None:
        schedule = self.schedule
        step, source = int(schedule.step[row]), int(schedule.src[row])
        lands, delay = self.replay(int(schedule.chunk[later])).landing[later], f", delay {schedule.delay}"
        fine = schedule.has_fine_slots
        message = (
            f"step {step}: {row_text(schedule, row)} leaves node {source} before {row_with_step(schedule, later)} has landed there "
            f"(step {lands}{'' if fine else delay}): node {node} ends without "
            f"{contributions_text(self.nodes(replay.chunk, lacking))}"
        )
        self.findings.add("causality", step, (row, later), message)
