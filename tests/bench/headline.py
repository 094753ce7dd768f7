"""What certree promises, measured: cycles of simulated tables compared with MultiTree in the same model, and CPU seconds.

MultiTree is run both ways, slotted (strict lockstep) and paced (its own lockstep); the faster of the two counts.
"""

from fractions import Fraction
from time import process_time
from typing import Any

import certree.api as ct

NETWORKS = ("mesh:4x4", "mesh:8x8", "torus:8x8", "torus:8x8,without-link=3-4")
SIZES_KIB = (32, 64, 128, 256, 512, 1 << 10, 2 << 10, 4 << 10, 8 << 10, 16 << 10, 64 << 10)


def compared(spec: str, size: str, method: str, mode: str) -> dict[str, Any]:
    """One cell, certified and simulated; a wrong sum is an error, and so is any lateness or contention of a slotted run."""
    (cell,) = ct.compare(spec, sizes=[size], methods=[method], run=mode).cells
    if not cell["data_ok"]:
        raise AssertionError("wrong sums")
    late = cell["late"], cell["contention_cycles"], cell["simulated_cycles"] - cell["time_cycles"]
    if mode == "slotted" and late != (0, 0, 0):
        raise AssertionError(f"a slotted run off its closed form: {cell}")
    return cell


def run(smoke: bool) -> None:
    """One line per network and size; the ratio is MultiTree's cycles over ours."""
    print("all-reduce, simulated cycles; bound: the time bound, in cycles; CPU s of synthesis, certificate and simulation")
    head = f"{'network':<28} {'KiB':>6} {'ours':>9} {'x bound':>8} {'CPU s':>6}"
    print(f"{head} {'MT slotted':>10} {'MT paced':>9} {'contention':>10} {'faster':>7}")
    for spec in NETWORKS[:1] if smoke else NETWORKS:
        for size in SIZES_KIB[:1] if smoke else SIZES_KIB:
            start = process_time()
            ours = compared(spec, f"{size}KiB", "auto", "slotted")
            spent = process_time() - start
            slotted, paced = (compared(spec, f"{size}KiB", "multitree", mode) for mode in ("slotted", "paced"))
            least, over = min(slotted["simulated_cycles"], paced["simulated_cycles"]), float(Fraction(ours["time_over_bound"]))
            print(
                f"{spec:<28} {size:>6} {ours['simulated_cycles']:>9} {over:>8.4f} {spent:>6.2f} "
                f"{slotted['simulated_cycles']:>10} {paced['simulated_cycles']:>9} {paced['contention_cycles']:>10} "
                f"{least / ours['simulated_cycles']:>7.3f}",
                flush=True,
            )


if __name__ == "__main__":
    run(smoke=False)
