"""Data as constants of a module of `specs/`: a generated module that extends it, its configuration, and TLA+ values."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from certree.extras.tla.check.model_runs import Configuration, run_generated
from certree.extras.tla.check.tlc import Simulation, TlcRun

_GIVEN = "GivenTables"


@dataclass(frozen=True)
class Generated:
    """A check of a module of `specs/` with given constants: `tables`, defined in the generated module (functions and lists);
    `values`, written to the configuration; `chosen`, replaced by definitions of the module itself or by `definitions`; states
    that do not fulfil `constraint` are not followed. `apart`: the tables are in a module of their own, which comes first, so that
    TLC has evaluated them before it evaluates what is made of them; large ones take hours otherwise. `used`: other values, which
    `definitions` use as `GivenNAME`; with `apart` only."""

    extends: str
    tables: Mapping[str, str]
    values: Mapping[str, object]
    invariants: tuple[str, ...]
    properties: tuple[str, ...] = ()
    spec: str = "Spec"
    chosen: Mapping[str, str] = field(default_factory=dict)
    definitions: tuple[str, ...] = ()
    constraint: str = ""
    apart: bool = False
    used: Mapping[str, str] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """The name of the generated module."""
        return f"Generated{self.extends}"

    def run(self, *, time_limit: float, simulation: Simulation | None = None) -> TlcRun:
        """The result of TLC; see `run_tlc`."""
        module, config = self.texts()
        others = {_GIVEN: self._given} if self.apart else None
        return run_generated(self.name, module, config, time_limit=time_limit, simulation=simulation, others=others)

    @property
    def _given(self) -> str:
        """The module of the tables."""
        tables = [f"Given{name} ==\n  {text}" for name, text in {**self.tables, **self.used}.items()]
        return "\n".join([f"---- MODULE {_GIVEN} ----", "LOCAL INSTANCE TLC", "LOCAL INSTANCE Integers", *tables, "====", ""])

    def texts(self) -> tuple[str, str]:
        """The generated module and its configuration."""
        # a definition that TLC evaluates once, and a name for the configuration
        given = {name: "" if self.apart else f"Given{name} ==\n  {text}\n" for name, text in self.tables.items()}
        tables = [f"{text}MC{name} == Given{name}" for name, text in given.items()]
        extended = f"{_GIVEN}, {self.extends}" if self.apart else self.extends
        module = [f"---- MODULE {self.name} ----", f"EXTENDS {extended}, TLC", *tables, *self.definitions, "===="]
        constants = {name: f"= {value}" for name, value in self.values.items()}
        constants |= {name: f"<- MC{name}" for name in self.tables} | {name: f"<- {own}" for name, own in self.chosen.items()}
        config = Configuration(
            self.spec, constants, constraint=self.constraint, invariants=self.invariants, properties=self.properties
        )
        return "\n".join([*module, ""]), config.text


def function(pairs: Iterable[tuple[object, object]]) -> str:
    """A TLA+ function, written out."""
    return " @@\n  ".join(f"({key} :> {value})" for key, value in pairs)


def members(values: Iterable[object]) -> str:
    """A TLA+ set, written out."""
    return "{" + ", ".join(map(str, values)) + "}"


def sequence(values: Iterable[object], between: str = ", ") -> str:
    """A TLA+ sequence, written out."""
    return f"<<{between.join(map(str, values))}>>"


def record(**fields: object) -> str:
    """A TLA+ record, written out."""
    return f"[{', '.join(f'{name} |-> {value}' for name, value in fields.items())}]"


def string(value: object) -> str:
    """A TLA+ string, written out."""
    return f'"{value}"'
