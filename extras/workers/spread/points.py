"""The points of a frontier on many workers: the same frontier as by one, whose search asks a solver one question after the other.

An answer depends on its question alone. So workers get the questions that the search comes to if those without an answer are
refuted: the first of them is certain to be asked, the others most often. Where a guess was wrong, an answer is not used.
"""

from collections.abc import Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass, field, replace
from typing import Any

from certree.api.workers import Workers
from certree.extras.workers.networks import received, sent
from certree.extras.workers.task import TIMED_OUT, Task
from certree.models.schedule.schedule_file import schedule_document, schedule_from_document
from certree.synth.exact.asking import Answer, Ask, Here
from certree.synth.exact.frontier_search import FrontierSearch
from certree.synth.monitor import Monitor
from certree.synth.solvers.cpsat import Status
from certree.verify.exact.question import Question


@dataclass
class Points:
    """A search whose questions workers answer."""

    search: FrontierSearch
    monitor: Monitor
    _answers: dict[Ask, Answer] = field(default_factory=dict)
    _asked: dict[str, Ask] = field(default_factory=dict)  # by the label of the task

    def run(self, workers: Workers) -> None:
        """Run the search to its end, the time limit or Ctrl-C, which passes through; it has then what is certain until there."""
        try:
            with closing(workers.run(self._tasks())) as outcomes:
                for task, outcome in outcomes:
                    late = outcome.kind == TIMED_OUT
                    if not late:
                        self._answers[self._asked[task.label]] = answer = _answer(outcome.value(), self.search.question)
                        self.monitor.report(f"{task.label}: {_words(answer)}")
                    if late or self.monitor.expired or not self.search.ahead(self._answers, 1):
                        break
        finally:
            self.search.run(self._answers)

    def _tasks(self) -> Iterator[Task | None]:
        """The next question that is not being answered, as far as it can be told."""
        while True:
            running = [ask for ask in self._asked.values() if ask not in self._answers]
            ahead = self.search.ahead(self._answers, len(running) + 1)
            if not ahead:
                return
            yield next((self._task(ask) for ask in ahead if ask not in running), None)

    def _task(self, ask: Ask) -> Task:
        kind = f", group {ask.group}" if ask.is_symmetric else ""
        label = "frontier: {} chunks, {} steps, {} rounds".format(*ask.point) + f"{kind}, {ask.most} conflicts"
        self._asked[label] = ask
        question = self.search.question
        arguments = {
            **sent(question.topology, question.collective),
            "memory": question.memory,
            "scratch": question.scratch,
            "point": list(ask.point),
            "most": ask.most,
            "group": ask.group,
            "solver": ask.solver,
        }
        return Task(label, point, arguments, time_limit=self.monitor.remaining)


def answered_by_workers(search: FrontierSearch, monitor: Monitor, workers: Workers) -> None:
    """Run a search whose questions workers answer; see `Points.run`."""
    Points(search, monitor).run(workers)


def point(arguments: Mapping[str, Any]) -> dict[str, Any]:
    """On a worker: the fields of an answer."""
    question = Question(*received(arguments), 1, 1, 1, arguments["memory"], arguments["scratch"])
    chunks, steps, rounds = arguments["point"]
    asked = Ask((chunks, steps, rounds), arguments["most"], arguments["group"], arguments["solver"])
    answer = Here(question, Monitor()).answer(asked)
    schedule = None if answer.schedule is None else schedule_document(answer.schedule)
    return {**vars(answer), "status": answer.status.value, "schedule": schedule}


def _answer(found: Mapping[str, Any], question: Question) -> Answer:
    """The answer of a worker."""
    schedule = None
    if found["schedule"] is not None:
        schedule = replace(schedule_from_document(found["schedule"], "the schedule of a worker"), topology=question.topology)
    return Answer(**{**found, "status": Status(found["status"]), "schedule": schedule})


def _words(answer: Answer) -> str:
    """The outcome of a question, in words."""
    return answer.why or {Status.FEASIBLE: "a schedule", Status.INFEASIBLE: "refuted"}.get(answer.status, "no answer")
