"""ACE's walk-through (Fig. 7): an all-reduce of three messages on a ring of three, step by step at one node."""

import json
from pathlib import Path

import certree.api as ct

NODE, SIZE = 0, "12KiB"
#: sub-steps of Fig. 7c: of the four messages that the node sends, of the four that it receives, and of its engine
SENT, RECEIVED = ("1.2", "2.3", "4.1", "5.2"), ("2.2", "3.2", "5.2", "5.3")
ENGINE = {
    "load": "1.1  the TX DMA begins to load three messages into the first partition",
    "loaded": "1.1  they are there",
    "gone on": "5.3  all is done: the chunk moves to the partition of results",
    "returned": "5.4  the RX DMA has brought the chunk back to memory",
}


def lines(path, schedule):
    """(cycle, sub-step and what happens) at the node; on a ring the row of a message has the number of its step."""
    adds = {(int(step), int(src)): op == 0 for step, src, op in zip(schedule.step, schedule.src, schedule.op, strict=True)}
    for entry in map(json.loads, path.read_text().splitlines()):
        if entry.get("endpoint") == NODE:
            yield entry["cycle"], ENGINE[entry["event"]]
        elif entry.get("node") == NODE:
            waits = entry["at_interface"] - entry["fired"]
            place = f"at the port after {waits} cycles" if waits else "at the port at once"
            yield entry["fired"], f"{SENT[entry['row']]}  a message for node {entry['destination']}, {place}"
        elif entry.get("destination") == NODE:
            done = "added to the local one" if adds[entry["row"], entry["node"]] else "stored"
            taken = entry["usable"] - entry["last_flit_arrived"]
            yield (
                entry["usable"],
                f"{RECEIVED[entry['row']]}  a message of node {entry['node']} is {done}, {taken} cycles after it came",
            )


ring = ct.synthesize("ring:3", method="ring", size=SIZE)
for system in ("ace", "baseline"):
    run = ct.simulate(ring, run="paced", endpoint=system, trace=Path(f"{system}.jsonl"))
    print(f"{system}: {run.cycles:,} cycles, {run.endpoint.counts['memory_bytes'] // 3:,} bytes through the memory of each node")
    for cycle, what in sorted(lines(Path(f"{system}.jsonl"), ring), key=lambda line: line[0]):
        print(f"  {cycle:5,}  {what}")
    ct.draw(f"{system}.jsonl", f"{system}.svg", force=True)
