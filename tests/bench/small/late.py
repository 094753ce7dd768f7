"""One late member of an all-reduce on a switch, against the published comparison.

    python -m tests.bench.small.late [--size 64MiB] [--endpoints 4,8,16,32,64]

A line for each number of endpoints: cycles after the late member has come, of the best schedule in which the others add up first,
and what they are over the cycles in which its own data leave it (the bound). StragglAR (arXiv 2505.23523) takes n + log2 n − 2
rounds for a power of two of endpoints, each as long as a message of 1/(n − 1) of the data takes from endpoint to endpoint here. An
all-reduce that waits for all takes 2 (n − 1)/n of the data, here without any latency.
"""

import argparse
from fractions import Fraction

import certree.api as ct
from certree.extras.joint.check.joint_bounds import Together
from certree.extras.joint.make.late_ranks import early_first
from certree.extras.joint.model.collective_list import Entry
from certree.models.common.quantities import parse_size
from certree.models.fine.slots import fine_times
from certree.models.machine.machine import load_machine
from certree.models.schedule.timing import ceil_div

LATE = 1 << 36


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--size", default="64MiB")
    parser.add_argument("--endpoints", default="4,8,16,32,64")
    asked = parser.parse_args()
    size = parse_size(asked.size)
    machine = load_machine("multitree")
    print("| endpoints | chunks | cycles | bound | over it | StragglAR | gain | all wait | gain |")
    print("|---|---|---|---|---|---|---|---|---|")
    for count in map(int, asked.endpoints.split(",")):
        network = ct.topology(f"switch:{count}")
        entry = Entry("sum", ct.collective("all-reduce").fitted(network), size, late=((count - 1, LATE),))
        made = min(early_first(network, machine, entry), key=lambda one: _after(one, count - 1))
        assert ct.verify(made).valid
        cycles = _after(made, count - 1)
        bound = Together(network, machine, (entry,)).after_late(entry) - LATE
        published = ["", ""]
        if count & (count - 1) == 0:
            one = ct.synthesize(network, ct.collective("broadcast", 0, [0, 1]), size=ceil_div(size, count - 1), chunks=1)
            rounds = (count + count.bit_length() - 3) * ct.simulate(one).cycles
            published = [f"{rounds:,}", f"{rounds / cycles:.2f}"]
        wait = Fraction(2 * (count - 1), count) * ceil_div(size, machine.flit_bytes)
        cells = [count, made.chunks, f"{cycles:,}", f"{bound:,}", f"{cycles / bound:.3f}", *published]
        print(f"| {' | '.join(map(str, cells))} | {int(wait):,} | {float(wait / cycles):.2f} |", flush=True)


def _after(made: ct.Schedule, late: int) -> int:
    """Cycles from the first firing of the late member, or the first message that reaches it, until all has landed."""
    times = fine_times(made)
    first = min(times.fire[made.src == late].min(), (times.fire + times.latency)[made.dst == late].min())
    return times.cycles - times.machine.ni_start_cycles - int(first)


if __name__ == "__main__":
    main()
