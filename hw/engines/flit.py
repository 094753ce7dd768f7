"""The engine `flit`: tables on a network of routers, whose messages travel as packets or messages, together with other traffic."""

import numpy as np
from numpy.typing import NDArray

from certree.hw import _core
from certree.hw.core_calls import narrowed
from certree.hw.engines.engine import RowEngine
from certree.hw.engines.runs import Engine, Options, OtherTraffic
from certree.hw.engines.schedule_run import SimulatedSchedule
from certree.hw.engines.table_framing import packet_lengths
from certree.hw.engines.traces import LinkUses
from certree.hw.routers.blockage import Starved, describe_blockage, describe_lost, describe_starved
from certree.hw.routers.network import WHOLE_PACKET, RouterNetwork, TrafficClass
from certree.hw.routers.packet_injection import BUDGET, packet_columns
from certree.hw.routers.packets import Packets
from certree.models.common.errors import UnsupportedError
from certree.models.machine.machine import Machine
from certree.models.network.routing import DIRECT
from certree.models.routers.lanes import fixed_lanes
from certree.models.routers.virtual_channels import class_vcs, layer_count
from certree.models.tables.tables import Tables

Int64 = NDArray[np.int64]


class FlitEngine(RowEngine):
    """The engine `flit`: tables, or a plan, on routers (`docs/explanation/routers.md`).

    Other packets have separate virtual channels. In a picture, a slice of a lane begins when flits leave its router; packets that
    take turns flit by flit have a slice per turn. Raises TableFormatError and UnsupportedError as TableRows, ScheduleRows and
    RouterNetwork do, and UnsupportedError for packets that no buffer holds. Time O(flits · links they pass), memory O(rows + hops
    of all messages + nodes · chunks · repeats + virtual channels + packets in flight), with a trace also O(hops of all messages).
    """

    name = Engine.FLIT
    budget = BUDGET

    def __init__(self, source: Tables | SimulatedSchedule, options: Options, cells: NDArray[np.uint64]) -> None:
        if source.schedule.plans_waits:
            raise UnsupportedError(
                "planned waits need links that serve one message after the other; routers let the flits of messages that wait take "
                "turns: run it with --engine fast --without-routers"
            )
        super().__init__(source, options, cells)
        others, machine, is_whole = options.packets, self.source.machine, options.framing == "message"
        lengths = packet_lengths(source, options.framing)[-1 if is_whole else 0 :]
        self.network = RouterNetwork(
            source.topology,
            machine,
            traffic_classes(machine, layer_count(source.schedule.virtual_channel), lengths, others, is_whole=is_whole),
            issue_cycles=machine.ni_issue_cycles,
        )
        routes, layers, plan = self._plan()
        order = np.argsort(others.start, kind="stable")
        self._other_ids = others.id[order]
        columns, other_routes = packet_columns(self.network, others, order)
        if self.network.table is None:
            columns["route"] = columns["route"] + np.uint32(len(routes))
        hops = [self.network.hops_of(lanes, layer) for lanes, layer in zip(routes, layers, strict=True)]
        hops += [self.network.hops_of(self.network.first_lanes(route)) for route in other_routes]
        self.core = _core.FlitRun(
            self.rows.scalars,
            self.rows.rows,
            self.network.scalars,
            self.network.core_columns(hops),
            plan
            | {
                "message_flits": self.rows.flits.astype(np.uint32),
                "packet_flits": np.array([0 if is_whole else machine.head_flits + machine.packet_granules], np.uint32),
            },
            columns,
            options.mode,
            cells,
            options.is_traced,
            self.endpoints,
        )
        if options.longest_wait is not None:
            self.core.watch(options.longest_wait)
        if options.trace_flits is not None:
            self.core.trace_flits()

    def deadlock(self) -> tuple[str, ...]:
        """The waits of each node in a stalled run, or the packet that never arrives, in words; empty for a run that has ended."""
        if not self.core.is_deadlocked:
            return describe_lost(self.core.lost(), np.arange(self.core.lost()[0] + 1))
        names = np.arange(1 + max((entry[0] for entry in self.core.blocked()), default=0))
        return self._waiting() + describe_blockage(self.network, self.core.blocked(), names)

    def starved(self) -> tuple[str, ...]:
        """The packets that waited longer than `Options.longest_wait`, in words."""
        return describe_starved(self.network, self.core.starved(), self.core.starved_count, self._name_of)

    def other_traffic(self) -> OtherTraffic:
        """The results of other packets."""
        names = ("other_packets", "other_latency", "longest_other_latency")
        statistics = self.core.statistics()
        return OtherTraffic(len(self._other_ids), *(statistics[name] for name in names))

    def link_uses(self) -> LinkUses:
        """The uses of lanes over time, of a traced run that has ended."""
        uses = self.core.link_uses()
        return LinkUses(
            [self.network.lane_name(lane) for lane in range(self.network.lanes)],
            [use[1:] for use in uses if use[0] == 0],
            [(int(self._other_ids[use[1]]), *use[2:]) for use in uses if use[0] == 1],
        )

    def _name_of(self, entry: Starved) -> str:
        """The name of a waiting message of the collective, or of another packet, by its id."""
        traffic_class, number, destination = entry[:3]
        return f"packet {self._other_ids[number]}" if traffic_class else f"a message to node {destination}"

    def _plan(self) -> tuple[list[Int64], list[int | None], dict[str, NDArray[np.integer]]]:
        """The routes that messages may take, as lanes, the layer of virtual channels of each, and the choice of each message."""
        sent, topology = self.rows.sent, self.source.topology
        first, lanes = self.network.lanes_of_pair()
        fixed = fixed_lanes(self.source.schedule, sent, self.rows.scalars["period"])
        if fixed is None:  # the lane to the neighbour with the least to send
            pair = topology.pair_index(sent["src"], sent["dst"])
            width = np.where(sent["src"] == sent["dst"], 0, np.diff(first)[pair])
            begin = np.concatenate(([0], np.cumsum(width)))
            choices = np.repeat(first[pair] - begin[:-1], width) + np.arange(begin[-1])
            routes, starts = [lanes[i : i + 1] for i in range(len(lanes))], lanes
            layers: list[int | None] = [None] * len(routes)
        else:
            routes = [lanes[first[pairs] + numbers] for pairs, numbers in fixed]
            layers = self._layers_of(sent["route"][sent["src"] != sent["dst"]])
            begin = np.concatenate(([0], np.cumsum(sent["src"] != sent["dst"])))
            choices = np.arange(len(routes))
            starts = np.array([route[0] for route in routes], np.int64)
        plan: dict[str, NDArray[np.integer]] = {
            "routes_begin": narrowed("routes_begin", begin),
            "routes": narrowed("routes", choices),
            "route_injector": np.maximum(self.network.injector_of_lane[starts], 0).astype(np.uint32),
        }
        return routes, layers, plan

    def _layers_of(self, route: NDArray[np.integer]) -> list[int | None]:
        """The layer of virtual channels of each message; None where routes state none, and to neighbours."""
        stated = self.source.schedule.virtual_channel
        if stated is None:
            return [None] * len(route)
        return [None if number == DIRECT else int(stated[number]) for number in route.tolist()]


def traffic_classes(machine: Machine, layers: int, lengths: list[int], others: Packets, *, is_whole: bool) -> list[TrafficClass]:
    """Virtual channels of the collective and of other packets; without other packets the collective has all channels."""
    router = machine.router
    cut_through = router.flow_control == "cut-through"
    unit = router.sub_message_flits if len(lengths) == 1 else WHOLE_PACKET
    longest = (
        (min(unit, max(lengths)), "a sub-message" if len(lengths) == 1 else "a packet"),
        (int(others.flits.max(initial=0)), "a packet"),
    )
    for flits, what in longest:
        if cut_through and flits > machine.vc_buffer_flits:
            raise UnsupportedError(
                f"{what} of {flits} flits is too long: cut-through moves a packet on when a buffer holds all of it, "
                f"and buffers have {machine.vc_buffer_flits}"
            )
    collective, other = class_vcs(machine, layers=layers, others=bool(len(others.id)))
    return [
        TrafficClass(collective, unit if cut_through else 1, router.sub_message_flits if is_whole else 0),
        TrafficClass(other, WHOLE_PACKET if cut_through else 1),
    ]
