"""What breaks a rule, made from the example that stands with the rule (`certree.verify.rule` says how it is written)."""

import json
import re
from contextlib import suppress
from dataclasses import replace
from functools import cache
from itertools import pairwise
from typing import Any

import numpy as np

from certree.hw.tables.lowering import lower
from certree.models.common.errors import InputError
from certree.models.common.files import sha256
from certree.models.machine.machine import load_machine
from certree.models.network.routing import DIRECT
from certree.models.network.spec import parse_topology
from certree.models.schedule.collective import parse_collective
from certree.models.schedule.default_shares import chunk_owners
from certree.models.schedule.schedule_file import schedule_document, schedule_from_document
from certree.models.schedule.symmetric.symmetric_file import symmetric_document, symmetric_from_document
from certree.models.tables.table_columns import ARRIVAL_COLUMNS, ROW_COLUMNS
from certree.models.tables.tables import Tables
from certree.synth.exact.frontier_search import FrontierSearch
from certree.synth.method import load_methods
from certree.synth.monitor import Monitor
from certree.verify.checker import verify_schedule
from certree.verify.exact.refutations.refutation import pack
from certree.verify.frontier.document import check_frontier
from certree.verify.rule import Rule, Subject
from certree.verify.tables.table_checker import verify_tables
from certree.verify.verdict import Violation
from tests.models.examples import turning
from tests.synth.execution import ask
from tests.verify.build import COPY, REDUCE, build, path_all_reduce

_COLUMNS = {"rows": ROW_COLUMNS, "arrivals": ARRIVAL_COLUMNS}
_TRANSFER = re.compile(r"(copy|reduce) (\d+) (\d+)(?:\.(\d+))?>(\d+)(?:\.(\d+))? @(\d+)(?: via ([\d>]+))?")


def provoke(rule: Rule) -> tuple[Violation, ...]:
    """The violations that a checker finds in the example of a rule."""
    if rule.about is Subject.SCHEDULES:
        return _schedule_violations(rule.example)
    changes = [part.partition(" = ")[::2] for part in rule.example.split("; ")]
    if rule.about is Subject.TABLES:
        return verify_tables(_tables(changes)).violations
    document = json.loads(_right(rule.about))
    for path, value in changes:
        _change(document, path, json.loads(value))
    if rule.about is Subject.FRONTIERS:
        return check_frontier(document, "example").violations
    read = symmetric_from_document if rule.about is Subject.SYMMETRIC else schedule_from_document
    return verify_schedule(read(document, "example")).violations


def _schedule_violations(text: str) -> tuple[Violation, ...]:
    head, _, body = text.rpartition(": ")
    spec, words, *fields = head.split()
    values = dict(field.split("=") for field in fields)
    asked = values.pop("asked", None)
    topology = parse_topology(spec)
    kind, _, root = words.partition("@")
    collective = parse_collective(kind, int(root) if root else None)
    found = [_TRANSFER.fullmatch(part) for part in body.split("; ")]
    assert all(found), f"{body!r} is not a list of transfers `OP CHUNK SRC>DST @STEP`, each with `via NODES` or not"
    parts = [match.groups() for match in found if match]
    rows = [(int(c), {"copy": COPY, "reduce": REDUCE}[op], int(t), int(u), int(v)) for op, c, u, _, v, _, t, _ in parts]
    buffers = {"src_buffer": [int(part[3] or 0) for part in parts], "dst_buffer": [int(part[5] or 0) for part in parts]}
    owners = dict(zip(("roots", "targets"), chunk_owners(topology, collective, max(row[0] for row in rows) + 1), strict=True))
    if "targets" in values:
        owners["targets"] = [int(node) for node in values.pop("targets").split(",")]
    numbers = {pair: link for link, pair in enumerate(zip(topology.src.tolist(), topology.dst.tolist(), strict=True))}
    paths = [tuple(numbers[hop] for hop in pairwise(map(int, part[7].split(">")))) if part[7] else () for part in parts]
    routes = tuple(dict.fromkeys(filter(None, paths)))
    route = [routes.index(path) if path else DIRECT for path in paths]
    fields = {name: int(value) for name, value in values.items()}
    schedule = build(topology, collective, rows, **owners, route=route, routes=routes, **buffers, **fields)
    return verify_schedule(schedule, topology=parse_topology(asked) if asked else None).violations


@cache
def _right(about: Subject) -> str:
    """A document in which nothing is wrong, as text."""
    if about is Subject.SYMMETRIC:
        return json.dumps(symmetric_document(turning("ring:4", named=False)))
    if about is Subject.FRONTIERS:
        search = FrontierSearch(parse_topology("ring:4"), parse_collective("all-gather"), 2, 1, Monitor())
        search.run()
        return json.dumps(search.result.document())
    return json.dumps(schedule_document(load_methods()["exact"](ask("ring:5", chunks=3))))


def _change(document: Any, path: str, value: Any) -> None:
    """Put a value where a path leads, or at the end of a list; lines of a proof are packed, and its digest made theirs."""
    *parents, last = (int(key) if key.isdigit() else key for key in path.split("."))
    for key in parents:
        document = document[key]
    if isinstance(document, list) and last == len(document):
        document.append(value)
    else:
        document[last] = value
    if last == "lines":
        document["lines"], document["sha256"] = pack(value), sha256(value.encode())


def _tables(changes: list[tuple[str, str]]) -> Tables:
    """The tables of an all-reduce on three nodes in a row, changed: NAME, NAME.ROW, or the order of `rows` or `arrivals`."""
    tables = lower(path_all_reduce(), 1 << 12, load_machine("multitree"))
    for path, text in changes:
        name, _, row = path.partition(".")
        value = json.loads(text)
        if name in _COLUMNS:
            columns = _COLUMNS[name]
            tables = replace(tables, **{column: getattr(tables, column)[value] for column in columns})
        elif row:
            column = np.array(getattr(tables, name))
            column[int(row)] = value
            tables = replace(tables, **{name: column})
        else:
            tables = replace(tables, **{name: value})
    if "schedule_digest" not in dict(changes):
        with suppress(InputError):
            tables = replace(tables, schedule_digest=tables.schedule.digest)
    return tables
