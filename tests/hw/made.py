"""Schedules of methods, tables of them, tables with other rows, and a star whose switch adds."""

from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np

from certree.hw.tables.lowering import lower
from certree.models.machine.machine import Machine, load_machine
from certree.models.network.spec import parse_topology
from certree.models.schedule.collective import parse_collective
from certree.models.schedule.schedule import Schedule
from certree.models.schedule.schedule_columns import NO_ROOT
from certree.models.tables.table_columns import ROW_COLUMNS
from certree.models.tables.tables import Tables
from certree.synth.method import Request, load_methods
from tests.models.examples import schedule
from tests.verify.build import network

MULTITREE = load_machine("multitree")
#: four endpoints reduce into switch 4 in one step; in the next it copies the sum to all of them
STAR = schedule(
    network("eeees", [ends for leaf in range(4) for ends in ((leaf, 4, 1), (4, leaf, 1))], reducing=[4]),
    "all-reduce",
    [NO_ROOT],
    "0+4 1+4 2+4 3+4; 4>0 4>1 4>2 4>3",
)


@cache
def made(
    method: str, spec: str, size: int, machine: Machine = MULTITREE, collective: str = "all-reduce", **options: str
) -> Schedule:
    """What a method makes for a message of `size` bytes on a machine."""
    return load_methods()[method](Request(parse_topology(spec), parse_collective(collective), size, machine, options=options))


def tables_of(method: str, spec: str, size: int, machine: Machine = MULTITREE, collective: str = "all-reduce") -> Tables:
    """The tables of that schedule."""
    return lower(made(method, spec, size, machine, collective), size, machine)


def with_rows(tables: Tables, rows: Any) -> Tables:
    """The tables with these of their rows, in this order."""
    return replace(tables, **{name: getattr(tables, name)[rows] for name in ROW_COLUMNS})


def in_order(tables: Tables) -> Tables:
    """The tables with their rows sorted as the hardware reads them."""
    return with_rows(tables, np.lexsort((tables.first_destination, tables.flow, tables.op, tables.step, tables.node)))
