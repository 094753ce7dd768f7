"""Whether a schedule with fine slots takes the fewest cycles (`verify.certificates.fewest_cycles`): the search finds a faster one,
or a refutation of all faster runs."""

from dataclasses import dataclass, field, replace

from certree.models.common.errors import InputError, UnsupportedError
from certree.models.fine.slots import fine_times
from certree.models.schedule.schedule import Schedule
from certree.models.schedule.symmetric.symmetric_schedule import written_out
from certree.models.schedule.timing import ceil_div
from certree.synth.exact.refuter import trimmed
from certree.synth.method import Request, load_methods
from certree.synth.monitor import Monitor
from certree.synth.solvers.back_end import AUTO, PROVING, back_end
from certree.synth.solvers.cpsat import Budget, Status
from certree.verify.certificates.fewest_cycles import asked_before, cycles_claim, granules_of, uncovered
from certree.verify.checker import verify_schedule
from certree.verify.exact.encoding.run_encoder import RunEncoder
from certree.verify.exact.refutations.refutation import Document, lines_proof
from certree.verify.exact.run_question import RunQuestion
from certree.verify.exact.rup import ProofError

CONFLICTS = 100_000  # for one question, at effort 1


@dataclass
class FewestCycles:
    """The result of a search. `better`: a faster schedule. `claim`, `better_claim`: claims of certificates that no run is faster,
    of the given and of the better schedule. `least`: cycles that every run is proved to take. `tried`: a line for each attempt."""

    better: Schedule | None = None
    claim: Document | None = None
    better_claim: Document | None = None
    least: int = 0
    tried: list[str] = field(default_factory=list)

    @property
    def status(self) -> str:
        """`optimal`, `beaten` or `open`."""
        return "beaten" if self.better is not None else "open" if self.claim is None else "optimal"


class FewestCyclesSearch:
    """Search for refutations of all faster runs; where one is missing, compare with the schedule of method auto. `result` is
    available at any time, also after Ctrl-C.

    UnsupportedError for schedules that the claim does not cover. The same effort gives the same result unless the monitor has a
    deadline. `solver`: the back end that is asked; only refutations with a proof count.
    """

    def __init__(self, schedule: Schedule, effort: int, monitor: Monitor, solver: str = AUTO) -> None:
        self.result = FewestCycles()
        self._granules = granules_of(schedule)
        self._schedule, self._monitor, self._solver, self._most = schedule, monitor, solver, CONFLICTS * effort
        asked_before(schedule, 1, 1)

    def run(self) -> None:
        """Look for refutations; where one is missing, look for a faster schedule and for refutations again; last, find the most
        cycles that refutations exclude."""
        fastest, most = self._schedule, fine_times(self._schedule).cycles - 1
        refuted = self._refuted(most)
        if refuted is None:
            self._compare()
        if self.result.better is not None:
            fastest, most = self.result.better, fine_times(self.result.better).cycles - 1
            refuted = self._refuted(most)
        if refuted is not None:
            claim = cycles_claim(fastest, refuted)
            self.result.least = most + 1
            self.result.claim, self.result.better_claim = (claim, None) if fastest is self._schedule else (None, claim)
            return
        none, some = 0, most  # there is no run within `none` cycles; runs within `some` cycles are not excluded
        while some - none > 1 and not self._monitor.expired:
            middle = (none + some) // 2
            none, some = (none, middle) if self._refuted(middle) is None else (middle, some)
        self.result.least = none + 1
        self.result.tried.append(f"runs of {none + 1:,} to {most:,} cycles: not excluded")

    def _compare(self) -> None:
        """Keep the schedule of method auto, if it has fine slots and is faster."""
        made_for, topology = self._schedule.made_for, self._schedule.topology
        assert made_for is not None
        self._monitor.report("exact: the schedule of method auto")
        request = Request(
            topology, self._schedule.collective, made_for.message_bytes, made_for.machine, monitor=self._monitor.watching()
        )
        try:
            made = written_out(load_methods()["auto"](request))
            if not made.has_fine_slots or granules_of(made) != self._granules:
                return
        except InputError as error:
            self.result.tried.append(f"method auto: {error}")
            return
        is_faster = fine_times(made).cycles < fine_times(self._schedule).cycles
        self.result.tried.append(f"method auto: {fine_times(made).cycles:,} cycles")
        if is_faster and verify_schedule(made).valid:
            self.result.better = replace(made, certificate=None)

    def _refuted(self, cycles: int) -> list[Document] | None:
        """Refutations of all runs within `cycles`; None where one is missing. For each number of chunks that is left the smallest
        chunks are tried first: without them no more chunks are left."""
        found: list[Document] = []
        while left := uncovered(self._granules, [(entry["chunks"], entry["granules"]) for entry in found]):
            chunks = left[0]
            for granules in dict.fromkeys((1, ceil_div(self._granules, chunks))):
                proof = self._proof(asked_before(self._schedule, chunks, granules, cycles))
                if proof is not None:
                    found.append({"chunks": chunks, "granules": granules, "proof": proof})
                    break
            else:
                return None
        return found

    def _proof(self, question: RunQuestion) -> Document | None:
        """A proof that there is no such run; None where none was found."""
        asked = f"{question.chunks} chunks of {question.granules} granules in {question.cycles:,} cycles"
        self._monitor.report(f"exact: {asked}")
        try:
            formula = RunEncoder(question).formula
            for name in dict.fromkeys((PROVING if self._solver == AUTO else self._solver, PROVING)):
                solver = back_end(name)()
                solver.accepts(formula)
                solver.encode(formula, with_proof=True)
                status = solver.solve(Budget(self._most), self._monitor, self._most)
                if status is not Status.INFEASIBLE:
                    words = "not excluded" if status is Status.FEASIBLE else "undecided"
                    self.result.tried.append(f"{asked}: {words}")
                    return None
            lines = [line for line in solver.proof.splitlines(keepends=True) if not line.startswith("d ")]
            proof = trimmed(formula, lines)
        except (UnsupportedError, ProofError) as error:
            self.result.tried.append(f"{asked}: {error}")
            return None
        self.result.tried.append(f"{asked}: refuted")
        return lines_proof(formula.digest, proof)
