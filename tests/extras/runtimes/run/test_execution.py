"""Schedules executed by processes: right results in every type, and an error on every rank when something goes wrong."""

import os
import time
from dataclasses import replace

import numpy as np
import pytest

from certree.api.api_errors import ExecutionError
from certree.extras.runtimes.run import executing
from certree.extras.runtimes.run.duties import duties_of
from certree.extras.runtimes.run.executing import execute
from certree.extras.runtimes.run.numbers import combined, contribution, narrowed
from certree.extras.runtimes.run.reference import error, results
from certree.models.common.errors import InputError
from certree.models.schedule.collective import Collective
from certree.verify.order.additions import additions_of
from tests.synth.execution import make
from tests.verify.build import build

RING = make("ring", "ring:3")
LIMIT = 3.0


@pytest.mark.parametrize("type_name", ["float32", "float16", "bfloat16", "int32"])
@pytest.mark.parametrize("operation", ["sum", "max", "min"])
def test_types_and_operations(type_name: str, operation: str) -> None:
    done = execute(RING, size="3KiB", type=type_name, operation=operation, iterations=1)
    assert done.exact
    assert done.error <= 1
    assert (done.error > 0) == (operation == "sum" and type_name != "int32")


@pytest.mark.parametrize(
    ("network", "method", "collective", "root"),
    [
        ("mesh:2x2", "multitree", "reduce-scatter", None),
        ("switch:4", "flows", "all-to-all", None),
        ("mesh:1x3", "binomial", "reduce", 1),
        ("mesh:1x3", "flows", "gather", 2),
        ("ring:4", "packing", "all-gather", None),
    ],
)
def test_collectives(network: str, method: str, collective: str, root: int | None) -> None:
    done = execute(make(method, network, collective, root=root), size="2KiB", type="int32", iterations=1)
    assert (done.exact, done.error) == (True, 0)


def test_bits_of_the_order(monkeypatch: pytest.MonkeyPatch) -> None:
    """Results have the bits of the order of the schedule, if it has one, and not those of another one."""
    chain = build("full:4", "reduce", "1+0; 2+0; 3+0", collective_root=0)
    assert execute(chain, size="4KiB", iterations=1).in_order is True
    assert execute(RING, size="3KiB", iterations=1).in_order is None
    other = replace(additions_of(chain), expression="(((0,2),1),3)")
    monkeypatch.setattr(executing, "additions_of", lambda _: other)
    done = execute(chain, size="4KiB", iterations=1)
    assert (done.exact, done.in_order, done.right) == (True, False, False)


def test_members_and_repeats() -> None:
    members = Collective("all-reduce", members=(0, 2))
    rows = [(0, 1, 0, 0, 1), (0, 0, 1, 1, 2), (0, 1, 2, 2, 1), (0, 1, 3, 1, 0)]
    assert execute(build("mesh:1x3", members, rows), size="1KiB", type="int32", iterations=1).right
    again = build("mesh:1x2", "broadcast", "0>1", collective_root=0, period=1, repeats=5)
    assert execute(again, size="1KiB", type="int32", iterations=1).right


@pytest.mark.parametrize("operation", ["sum", "max"])
@pytest.mark.parametrize(
    ("network", "method", "collective", "root"),
    [
        ("switch:3,reducing=switches", "netreduce", "all-reduce", None),
        ("tree:2x2,reducing=switches", "in-switch", "all-reduce", None),
        ("tree:2x2,reducing=switches", "in-switch", "reduce", 1),
    ],
)
def test_switches_that_reduce(network: str, method: str, collective: str, root: int | None, operation: str) -> None:
    """Each is a process, whose first contribution is the sum so far, in every iteration anew."""
    made = make(method, network, collective, message_bytes=2048, root=root)
    done = execute(made, operation=operation, iterations=2)
    assert done.right
    assert duties_of(made, 2048, 4).ranks == len(made.topology.kind)


@pytest.mark.parametrize("fault", ["lost", "last lost", "died"])
def test_a_fault_is_an_error_on_every_rank(fault: str) -> None:
    """A lost message before others shows at once; the last one when the time is over; a process that dies at once."""
    number = {"lost": 2, "last lost": RING.transfers - 1, "died": 4}[fault]

    def tamper(_rank: int, sent: int) -> bool:
        if sent == number and fault == "died":
            os._exit(7)
        return sent != number

    start = time.monotonic()
    with pytest.raises(ExecutionError) as caught:
        execute(RING, size="3KiB", iterations=1, time_limit=LIMIT, tamper=tamper)
    assert time.monotonic() - start < LIMIT + 6
    assert len(caught.value.ranks) == 3
    assert all(caught.value.ranks)
    expected = {
        "lost": "not message 2",
        "last lost": "did not come within the time limit",
        "died": "the process ended, exit code 7",
    }
    assert expected[fault] in str(caught.value)


def test_the_reference_notices_a_wrong_result() -> None:
    duties = duties_of(RING, 3072, 4)
    chunk, due = next(iter(results(duties, "float32", "sum")))
    value = due[0].copy()
    assert error(duties, "float32", "sum", chunk, value) <= 1
    value[5] *= np.float32(1.001)
    assert error(duties, "float32", "sum", chunk, value) > 1


def test_bfloat16_rounds_to_even() -> None:
    values = np.array([1, 1 + 2**-8, 1 + 3 * 2**-8, 1 + 2**-8 + 2**-20], np.float32)
    assert narrowed(values).tolist() == [0x3F80, 0x3F80, 0x3F82, 0x3F81]
    half = narrowed(np.array([2**-8], np.float32))
    assert combined("bfloat16", "sum", narrowed(values[:1]), half).tolist() == [0x3F80]
    assert contribution("bfloat16", 1, 2, 4).dtype == np.uint16


def test_bad_requests() -> None:
    for fields, message in (
        ({"type": "float64"}, "unknown type 'float64'; did you mean 'float16'. known: float32"),
        ({"operation": "prod"}, "unknown operation 'prod'; known: sum, max, min"),
        ({"iterations": 0}, "0 iterations; allowed: 1 to 10000"),
        ({"local": 4}, "4 processes; ring:3 has 3 endpoints"),
    ):
        with pytest.raises(InputError, match=message):
            execute(RING, **fields)
    with pytest.raises(
        InputError, match=r"^3 processes; switch:3,reducing=switches has 3 endpoints and a switch that reduces, and each"
    ):
        execute(make("netreduce", "switch:3,reducing=switches"), local=3)
