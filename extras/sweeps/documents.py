"""Forms of the documents that commands on sweeps print as `--json`, in the words of `certree.api.reports.documents`."""

from certree.api.reports.documents import DOCUMENTS, PARTS

PARTS |= {
    "compared": """
        topology?: text
        method: text
        message_bytes: count
        options?: {text}
        not_applicable? time_unknown? not_simulated? run_fault?: text
        valid? exact? data_ok?: bool
        steps? total_steps? delay? repeats? chunks? transfers?: count
        period? latency_steps? latency_bound? time_cycles? simulated_cycles? contention_cycles? late?: count?
        time_bound_cycles? time_bound_cycles_any_shares?: count?
        bandwidth_time? bandwidth_bound? bandwidth_bound_any_shares? bound_cycles?: rational?
        time_over_bound? time_over_bound_any_shares?: rational?
        shares?: text
        seconds? bytes_per_second? algbw? busbw? simulated_seconds? time_bound_seconds?: rational?
        nccl_seconds?: rational
        nccl_protocol?: text
        optimal_in?: [text]
        gap?: gaps
        engine?: text?
        """,
    "compared_at_once": """
        how: text
        not_simulated? wrong?: text?
        data_ok?: bool
        closed_form_cycles? simulated_cycles? contention_cycles? late?: count
        ends?: {count}
        early? stall?: [text]
        """,
    "swept": """
        label? key network? drawn? collective? method? machine? run? status? message?: text
        size? seed? draw?: count
        endpoint?: text
        sram? state_machines? sram_peak?: count?
        engine_square_micrometres? engine_watts?: rational?
        """,
    "tuned": """
        from to made_for_bytes time_bytes: count
        from_is_exact fine_slots: bool
        method file: text
        time_cycles time_bound_cycles: count?
        time_bound_cycles_any_shares?: count?
        seconds bytes_per_second algbw busbw time_bound_seconds time_over_bound: rational?
        time_over_bound_any_shares?: rational?
        """,
    "tuned_at": """
        message_bytes time_cycles: count
        time_bound_cycles: count?
        time_bound_cycles_any_shares?: count?
        time_bound_seconds time_over_bound: rational?
        time_over_bound_any_shares?: rational?
        method: text
        file: text
        """,
}
DOCUMENTS |= {
    "compare-collectives": """
        topology machine: text
        time_bound_cycles: count
        cells: [compared_at_once]
        """,
    "compare": """
        topology collective machine: text
        interrupted?: bool
        root: count?
        blocks? granules?: count
        rounded?: rounded
        cells: [compared]
        """,
    "sweep": """
        title: text
        rounded?: {rounded}
        cells: [swept]
        folder?: text
        present? unmeasured?: count
        estimated_cpu_seconds?: number
        """,
    "tune": """
        topology collective machine: text
        root: count?
        blocks? granules?: count
        rounded?: rounded
        ranges: [tuned]
        points: [tuned_at]
        """,
}
