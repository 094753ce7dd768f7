"""Operations of a rank on its data, however messages travel."""

from collections.abc import Callable

from certree.extras.runtimes.run.duties import Act, Duties, Duty, Place
from certree.extras.runtimes.run.numbers import Vector, combined, contribution
from certree.extras.runtimes.run.reference import digest


class Work:
    """The buffers of a rank, and the execution of its duties. `send` starts a message, `receive` waits for one."""

    def __init__(
        self,
        rank: int,
        duties: Duties,
        kind: str,
        operation: str,
        send: Callable[[Duty, Vector], None],
        receive: Callable[[Duty], Vector],
    ) -> None:
        self.rank, self.duties, self.kind, self.operation = rank, duties, kind, operation
        self.send, self.receive = send, receive
        self.held: dict[Place, Vector] = {}
        self._kept: dict[int, Vector] = {}  # by number, of messages of this rank to itself

    def load(self) -> None:
        """The contributions of this rank, in fresh buffers."""
        self.held = {
            (chunk, 0): contribution(self.kind, self.rank, chunk, self.duties.counts[chunk])
            for chunk, ranks in enumerate(self.duties.owners)
            if self.rank in ranks
        }

    def run(self) -> None:
        """Carry out all duties, in their order."""
        for duty in self.duties.of[self.rank]:
            if duty.act is Act.SEND:
                self._sent(duty)
                continue
            value = self._received(duty) if duty.act is Act.RECEIVE else self.held[duty.src]
            adds = duty.adds and duty.dst in self.held  # the first to come to a switch is the sum so far
            self.held[duty.dst] = combined(self.kind, self.operation, self.held[duty.dst], value) if adds else value

    def _sent(self, duty: Duty) -> None:
        if duty.peer == self.rank:
            self._kept[duty.number] = self.held[duty.src]
        else:
            self.send(duty, self.held[duty.src])

    def _received(self, duty: Duty) -> Vector:
        return self._kept.pop(duty.number) if duty.peer == self.rank else self.receive(duty)

    def digests(self) -> dict[int, bytes]:
        """The digests of the results that are due here, by chunk."""
        return {chunk: digest(self.held[chunk, 0]) for chunk, ranks in enumerate(self.duties.due) if self.rank in ranks}
