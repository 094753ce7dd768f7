"""GenModel: the cost of an all-reduce with incast and memory access (GenTree, Section 3.3).

    T = A alpha + B beta + C gamma + D delta + max(w - w_t, 0) B epsilon

A steps, B floats received over a link, C additions, D memory accesses, w communicators of a many-to-one transfer. A `Profile` holds
the coefficients of one plan; what a plan sends decides them, and the parameters turn them into seconds. Exact rationals throughout.
"""

import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from importlib import resources
from math import prod
from pathlib import Path
from typing import Any

from certree.models.errors import InputError
from certree.models.files import check_format, read_bytes

FORMAT, VERSION = "certree-genmodel", 1
LEAST_THRESHOLD = 2  # communicators: a single sender and its receiver are no incast
NUMBER = re.compile(r"[0-9]{1,20}(\.[0-9]{1,20})?(e[+-]?[0-9]{1,3})?")


@dataclass(frozen=True)
class Level:
    """What one kind of link costs: start-up of a step, a float over it, a float and flow beyond `incast_threshold`
    communicators."""

    alpha_seconds: Fraction
    beta_seconds_per_float: Fraction
    epsilon_seconds_per_float: Fraction
    incast_threshold: int


@dataclass(frozen=True)
class Server:
    """What a server costs: start-up, one addition of floats, one float read from or written to memory."""

    alpha_seconds: Fraction
    gamma_seconds_per_float: Fraction
    delta_seconds_per_float: Fraction


@dataclass(frozen=True)
class GenModel:
    """The parameters of a cluster: its servers, and the links to servers (`middle`), between switches (`root`) and between the top
    switches of two trees (`cross`)."""

    name: str
    server: Server
    middle: Level
    root: Level
    cross: Level


@dataclass(frozen=True)
class Profile:
    """Coefficients of a plan, for the whole vector of one float: steps A, received floats B, additions C, memory accesses D; and
    (w, B_w) of its many-to-one transfers, w ascending: the floats received in steps of w > 2 communicators."""

    steps: int
    received: Fraction
    additions: Fraction
    accesses: Fraction
    incast: tuple[tuple[int, Fraction], ...]

    def excess(self, incast_threshold: int) -> Fraction:
        """The coefficient of epsilon: sum of max(w - w_t, 0) B_w."""
        return sum((max(w - incast_threshold, 0) * share for w, share in self.incast), Fraction(0))

    def seconds(self, level: Level, server: Server, alpha_seconds: Fraction, floats: Fraction) -> Fraction:
        """The time for a vector of `floats`, each step starting up in `alpha_seconds`."""
        per_float = (
            self.received * level.beta_seconds_per_float
            + self.additions * server.gamma_seconds_per_float
            + self.accesses * server.delta_seconds_per_float
            + self.excess(level.incast_threshold) * level.epsilon_seconds_per_float
        )
        return self.steps * alpha_seconds + floats * per_float


def factored_profile(factors: Sequence[int]) -> Profile:
    """Hierarchical co-located PS f0 x f1 x ... as an all-reduce; one factor is co-located PS (Table 2).

    In step i a member receives (f_i - 1) parts of prod(f_j, j > i) / N of the vector each, and adds f_i parts up; the all-gather
    moves as much again. Table 2 prints prod(f_j, 1 <= j <= i) in the memory term and shifts the factors of the incast term; both
    are as here for the cases that follow from the definition (`synth/README.md`).
    """
    nodes = prod(factors)
    left, accesses = nodes, 0
    incast: dict[int, Fraction] = {}
    for factor in factors:
        left //= factor
        accesses += (factor + 1) * left
        if factor > 2:
            incast[factor] = incast.get(factor, Fraction(0)) + Fraction(2 * (factor - 1) * left, nodes)
    share = Fraction(nodes - 1, nodes)
    return Profile(2 * len(factors), 2 * share, share, Fraction(accesses, nodes), tuple(sorted(incast.items())))


def pairwise_profile(nodes: int, steps: int) -> Profile:
    """Ring (`steps` 2(N - 1)) and, for N a power of 2, recursive halving and doubling (2 log2 N): every addition has two terms."""
    share = Fraction(nodes - 1, nodes)
    return Profile(steps, 2 * share, share, 3 * share, ())


def halving_profile(nodes: int) -> Profile:
    """Recursive halving and doubling (RHD). Beyond a power of two N' the others hand their vector to a partner first and get the
    sum last; N' members halve and double, where Table 2 prints 2(N - 1)/N as if all did."""
    power = 1 << (nodes.bit_length() - 1)
    core = pairwise_profile(power, 2 * (power.bit_length() - 1))
    if power == nodes:
        return core
    return Profile(core.steps + 2, core.received + 2, core.additions + 1, core.accesses + 3, ())


def reduce_broadcast_profile(nodes: int) -> Profile:
    """One parameter server among the N. Only it receives from many: Table 2 counts the incast of the broadcast, which has one
    sender, as well."""
    whole = Fraction(nodes - 1)
    return Profile(2, 2 * whole, whole, whole + 2, ((nodes, whole),) if nodes > 2 else ())


def load_genmodel(name: str) -> GenModel:
    """A preset by name, or a TOML file; InputError names the field that is missing, unknown or negative."""
    presets = resources.files("certree.models.cost") / "presets"
    known = sorted(entry.name.removesuffix(".toml") for entry in presets.iterdir() if entry.name.endswith(".toml"))
    if name in known:
        data = (presets / f"{name}.toml").read_bytes()
    elif name.endswith(".toml"):
        data = read_bytes(Path(name))
    else:
        raise InputError(f"unknown GenModel parameters {name!r}; allowed: {', '.join(known)}, or a file ending in .toml")
    try:
        document = check_format(tomllib.loads(data.decode()), FORMAT, VERSION, name)
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise InputError(f"{name} is not TOML: {error}") from None
    tables = {key: document.get(key) for key in ("server", "middle", "root", "cross")}
    if not isinstance(document.get("name"), str):
        raise InputError(f"{name}: name must be a string")
    return GenModel(
        name=document["name"],
        server=Server(**_rationals(tables["server"], Server, f"{name}: server")),
        **{key: Level(**_rationals(tables[key], Level, f"{name}: {key}")) for key in ("middle", "root", "cross")},
    )


def _rationals(table: Any, kind: type[Level] | type[Server], where: str) -> dict[str, Any]:
    """The fields of `kind` from a table of strings; InputError when one is missing, unknown, or no number from 0."""
    names = list(kind.__dataclass_fields__)
    if not isinstance(table, Mapping) or sorted(table) != sorted(names):
        given = sorted(table) if isinstance(table, Mapping) else table
        raise InputError(f"{where} has the fields {given}; expected {sorted(names)}")
    values: dict[str, Any] = {}
    for field in names:
        value = table[field]
        if field == "incast_threshold":
            good = type(value) is int and value >= LEAST_THRESHOLD
        else:
            good = isinstance(value, str) and NUMBER.fullmatch(value) is not None
            value = Fraction(value) if good else value
        if not good:
            expected = (
                f"a whole number from {LEAST_THRESHOLD}" if field == "incast_threshold" else 'a string such as "6.4e-9", from 0'
            )
            raise InputError(f"{where}: {field} is {table[field]!r}; expected {expected}")
        values[field] = value
    return values
