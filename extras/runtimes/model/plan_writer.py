"""Execution plans of MSCCL++ as JSON, written, with the numbers that `plan_file` reads."""

from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from certree.extras.runtimes.model.plan import MEMORY, PORT, SWITCH, Operation, OpName, Plan, PlanRank, Span
from certree.extras.runtimes.model.plan_file import COLLECTIVES
from certree.extras.runtimes.model.program import Buffer
from certree.models.common.files import canonical_json
from certree.models.schedule.collective import ALLTOALLV


def written_plan(plan: Plan) -> bytes:
    """The JSON of a plan. The same plan gives the same bytes. The keys `members`, and `blocks` of a rank, say who takes part and
    what
    an alltoallv moves; the executor reads neither."""
    blocks = plan.roles.blocks
    document = {
        "name": plan.name,
        "collective": ALLTOALLV if blocks else next(name for name, kind in COLLECTIVES.items() if kind is plan.kind),
        "protocol": plan.protocol,
        "inplace": plan.in_place,
        "reuse_resources": plan.reuses_resources,
        **({} if plan.roles.members is None else {"members": list(plan.roles.members)}),
        "gpus": [
            _Writer(number, rank).gpu() | ({"blocks": list(blocks[number])} if blocks else {})
            for number, rank in enumerate(plan.ranks)
        ],
        "num_threads_per_block": plan.threads,
        "use_double_scratch_buffer": False,
        "buffer_alignment": plan.alignment,
        "min_message_size": plan.min_bytes,
        "max_message_size": plan.max_bytes,
    }
    return canonical_json(document)


@dataclass
class _Writer:
    """Numbers the channels and remote buffers of one rank."""

    number: int
    rank: PlanRank
    remote: dict[tuple[int, Buffer], set[str]] = field(default_factory=dict)

    def gpu(self) -> dict[str, Any]:
        """The document of the rank."""
        used = [inner for block in self.rank.blocks for one in block for inner in (one, *one.body)]
        many: Counter[tuple[str, int]] = Counter()
        for operation in used:
            for kind, peer, which in operation.channels:
                many[kind, peer] = max(many[kind, peer], which + 1)
            for span in (*operation.src, *operation.dst):
                if span.rank != self.number:
                    self.remote.setdefault((span.rank, span.buffer), set()).add(operation.channel_type)
        self.buffers = sorted(self.remote)
        self.channels = {
            kind: sorted(
                [(kind, peer, which) for (one, peer), count in many.items() if one == kind for which in range(count)],
                key=lambda channel: (channel[2], channel[1]),
            )
            for kind in (MEMORY, PORT)
        }
        listed: list[dict[str, Any]] = [
            {"channel_type": kind, "connected_to": [peer for _, peer, _ in found]} for kind, found in self.channels.items() if found
        ]
        listed += [
            {"channel_type": SWITCH, "buffer_type": buffer, "rank_groups": [{"size": len(ranks), "ranks": list(ranks)}]}
            for buffer, ranks in self.rank.groups
        ]
        return {
            "id": self.number,
            "input_chunks": self.rank.inputs,
            "output_chunks": self.rank.outputs,
            "scratch_chunks": self.rank.scratch,
            "threadblocks": [self._block(number, block) for number, block in enumerate(self.rank.blocks)],
            "channels": listed,
            "remote_buffers": [
                {"rank": peer, "type": buffer, "access_channel_types": sorted(self.remote[peer, buffer])}
                for peer, buffer in self.buffers
            ],
            "semaphores": [{"init_value": value} for value in self.rank.semaphores],
        }

    def _block(self, number: int, block: tuple[Operation, ...]) -> dict[str, Any]:
        own: dict[str, dict[Any, int]] = {MEMORY: {}, PORT: {}, SWITCH: {}}
        remote: dict[str, dict[int, int]] = {MEMORY: {}, PORT: {}}
        operations = [self._operation(one, own, remote) for one in block]
        numbers = {kind: {channel: at for at, channel in enumerate(found)} for kind, found in self.channels.items()}
        listed = {
            kind: [numbers[kind][channel] if kind in numbers else channel for channel in found] for kind, found in own.items()
        }
        return {
            "id": number,
            "ops": operations,
            "channels": [{"channel_type": kind, "channel_ids": ids} for kind, ids in listed.items() if ids],
            "remote_buffer_refs": [
                {"access_channel_type": kind, "remote_buffer_ids": list(found)} for kind, found in remote.items() if found
            ],
        }

    def _operation(self, one: Operation, own: dict[str, dict[Any, int]], remote: dict[str, dict[int, int]]) -> dict[str, Any]:
        out: dict[str, Any] = {"name": one.name}
        for name, spans in (("src_buff", one.src), ("dst_buff", one.dst)):
            if spans:
                out[name] = [self._span(span, one.channel_type, own, remote) for span in spans]
        if one.channels:
            found = own[one.channel_type]
            out["channel_ids"] = [found.setdefault(channel, len(found)) for channel in one.channels]
        if one.channel_type:
            out["channel_type"] = one.channel_type
        if one.name.adds or one.name is OpName.SWITCH_REDUCE_STORE:
            out["reduce_op"] = "sum"
        if one.part != (0, 1):
            out["tbg_info"] = {"tb_id": one.part[0], "tbg_size": one.part[1]}
        if one.name is OpName.BARRIER:
            out |= {"barrier_id": one.barrier, "num_threadblocks": one.blocks}
        if one.semaphores:
            out["semaphore_ids"] = list(one.semaphores)
        if one.name is OpName.LOOP:
            out["iter_context"] = {"unit_size": one.unit_bytes, "num_chunks": one.loop_chunks}
            out["ops"] = [self._operation(inner, own, remote) for inner in one.body]
        return out

    def _span(self, span: Span, kind: str, own: dict[str, dict[Any, int]], remote: dict[str, dict[int, int]]) -> dict[str, Any]:
        place = {"index": span.offset, "size": span.count}
        if span.group >= 0:
            return {"switch_channel_id": own[SWITCH].setdefault(span.group, len(own[SWITCH])), **place}
        if span.rank == self.number:
            return {"type": span.buffer, **place}
        number = self.buffers.index((span.rank, span.buffer))
        return {"buffer_id": remote[kind].setdefault(number, len(remote[kind])), **place}
