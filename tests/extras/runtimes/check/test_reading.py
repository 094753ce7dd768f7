"""Files that are not programs: one line with the element and the attribute."""

import pytest

from certree.extras.runtimes.check.checker import verify_program
from certree.extras.runtimes.model.msccl import read_msccl
from certree.models.common.errors import InputError
from tests.extras.runtimes.check.foreign import algo, ring, step

RIGHT = ring(2)
FAULTS = [
    ('coll="allreduce" ', "", "line 1: <algo>: coll is missing"),
    ('coll="allreduce"', 'coll="allsum"', "<algo>: unknown coll 'allsum'; known: allreduce"),
    ('coll="allreduce"', 'coll="all-reduce"', "did you mean 'allreduce'"),
    ('ngpus="2"', 'ngpus="3"', "2 gpu elements with 2 different ids; ngpus is 3"),
    ('ngpus="2"', 'ngpus="99999999999999999999"', "ngpus is '99999999999999999999'; allowed: 2 to 4096"),
    ('inplace="1"', 'inplace="0"', "inplace and outofplace are 0"),
    ('<gpu id="1"', '<gpu id="7"', "<gpu>: id is '7'; allowed: 0 to 1"),
    ('<gpu id="1"', '<gpu id="0"', "different ids"),
    ('send="1"', 'send="0"', "<tb>: send is 0, the rank itself"),
    ('send="1"', 'send="2"', "<tb>: send is '2'; allowed: -1 to 1"),
    ('send="1"', 'send="-1"', "<step>: type is s, and send of its tb is -1"),
    ('<tb id="0"', '<tb id="1"', "<tb>: id is '1'; allowed: 0 to 0"),
    ('<step s="1"', '<step s="2"', "<step>: s is 2; steps are numbered in their order, and this is number 1"),
    ('type="rrcs"', 'type="sum"', "<step>: unknown type 'sum'"),
    ('srcoff="0"', 'srcoff="2"', "line 4: <step>: srcoff is 2, for 1 chunk; buffer i of this gpu has 2"),
    ('srcoff="0"', 'srcoff="x"', "<step>: srcoff is 'x'"),
    ('depid="-1"', 'depid="1"', "<step>: depid is '1'; allowed: -1 to 0"),
    ('depid="-1" deps="-1"', 'depid="0" deps="9"', "<step>: deps is '9'; allowed: 0 to 2"),
    ("<algo", "<graph", "not XML"),
    ("</algo>", "", "not XML"),
    ("<algo", "<!DOCTYPE algo [<!ENTITY a 'b'>]><algo", "document types and entities are not read"),
]


def test_the_right_one_is_read():
    assert len(read_msccl(RIGHT.encode(), "x.xml").ranks) == 2


@pytest.mark.parametrize(("old", "new", "message"), FAULTS)
def test_fault(old, new, message):
    changed = RIGHT.replace(old, new, 1)
    assert changed != RIGHT
    with pytest.raises(InputError) as error:
        read_msccl(changed.encode(), "x.xml")
    assert message in str(error.value)
    assert "\n" not in str(error.value)


def exchange(copies=('<copy i_off="0" o_off="0"/>', '<copy i_off="1" o_off="1"/>')):
    """An all-to-all of two ranks, whose own blocks are elements `copy`."""
    gpus = []
    for rank in (0, 1):
        other = 1 - rank
        blocks = [(other, -1, [step(0, "s", f"i:{other}", f"o:{rank}")]), (-1, other, [step(0, "r", f"i:{rank}", f"o:{other}")])]
        gpus.append((0, blocks))
    first, second, third = algo(gpus, "alltoall", chunks=2).split("</gpu>")
    return "</gpu>".join([first + copies[0], second + copies[1], third])


def test_copies():
    """They are executed, and checked like steps; executors do not read them."""
    found = verify_program(read_msccl(exchange().encode(), "x.xml"))
    assert found.valid
    assert any("<copy>; the executor reads no such element" in sentence for sentence in found.limits["rccl"])
    swapped = exchange(('<copy i_off="0" o_off="1"/>', '<copy i_off="1" o_off="1"/>'))
    assert set(verify_program(read_msccl(swapped.encode(), "x.xml")).verdict.counts) >= {"wrong-data"}
    for wrong, words in (("2", "<copy>: i_off is '2'; allowed: 0 to 1"), ("x", "<copy>: i_off is 'x'")):
        with pytest.raises(InputError, match=words):
            read_msccl(exchange((f'<copy i_off="{wrong}" o_off="0"/>', "")).encode(), "x.xml")


def test_hostile_sizes():
    deep = RIGHT.replace("</algo>", "<gpu>" * 100 + "</algo>")
    for text in (deep, "<algo>" + "<gpu/>" * (1 << 17) + "</algo>"):
        with pytest.raises(InputError, match="more than 131072 elements, or nested deeper"):
            read_msccl(text.encode(), "x.xml")
    with pytest.raises(InputError, match="allowed: up to 33554432"):
        read_msccl(b" " * ((1 << 25) + 1), "x.xml")
