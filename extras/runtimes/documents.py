"""Forms of the documents that commands on runtimes print as `--json`, in the words of `certree.api.reports.documents`."""

from certree.api.reports.documents import DOCUMENTS

DOCUMENTS |= {
    "program": """
        valid in_place out_of_place: bool
        kind collective: text
        root chunks: count?
        ranks messages: count
        members?: [count]
        name? protocol?: text
        min_bytes? max_bytes? channels? most_blocks? most_steps? most_elements?: count
        permutes? steps? stretches? iterations? device_rows? rows_sent? rows_used?: count
        most_operations? semaphores?: count
        kernel_operations?: {count}
        any_calls?: bool
        block_elements? blocks_sent?: count
        element?: text
        operation?: text?
        history?: [text]
        converted?: [text]
        scratch_chunks? chunk_multiple_bytes? bytes? most_nodes?: count
        states_data?: bool
        order?: order?
        order_unknown?: text
        violations?: [violation]
        violation_counts?: {count}
        limits?: {count}
        first_limits?: {text}
        """,
    "execute": """
        right exact: bool
        in_order?: bool
        error_over_bound mpi_seconds: number?
        topology collective type: text
        root: count?
        method operation: text?
        ranks messages message_bytes: count
        seconds: [number]
        bus_bytes_per_second: number
        members?: [count]
        switches? blocks?: count
        on? jax_version? platform?: text
        permutes? stablehlo_bytes? operations?: count
        compile_seconds?: number
        own_seconds?: [number]?
        """,
}
