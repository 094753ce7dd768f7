"""Forms of the documents that commands on endpoints print as `--json`, in the words of `certree.api.reports.documents`."""

from certree.api.reports.documents import DOCUMENTS, PARTS

PARTS |= {
    "payload": "bytes start: count",
    "system": """
        system: text
        cycles chunks chunk_bytes messages memory_bytes: count
        padded_bytes phases deepest_port interrupts link_bytes: count?
        ends: [count]
        seconds: rational
        joules: rational?
        data_ok conserved: bool
        wrong: any
        partitions partition_peaks: [any]
        occupancy delays: {rational?}
        stall: [text]
        program: text
        engine?: text
        counts?: {count}
        joint?: joint_run
        """,
    "joint_run": "cycles: count?\nreason? engine?: text\nchunks? bound_cycles?: count\ndata_ok?: bool",
}
PARTS["endpoint_bound"] = "system unit: text\ncycles: count\nterms: {count}\nclass left_out words: [text]"
DOCUMENTS["bound"] += "\nendpoint?: endpoint_bound"
DOCUMENTS |= {
    "endpoints": """
        topology collective endpoint: text
        method no_tables no_routers: text?
        ways: count?
        payloads: [payload]
        systems: [system]
        """,
}
