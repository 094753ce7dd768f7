"""Forms of the documents that `designs --json` prints, in the words of `certree.api.reports.documents`."""

from certree.api.reports.documents import DOCUMENTS, PARTS

PARTS |= {
    "designed": """
        part network status? method? key: text
        message? drawn? collective? machine? workload? time_source? options? not_simulated?: text
        endpoints: count
        dead_links? draw? size_bytes? seed? chunks? steps? transfers? time_cycles? time_bound_cycles?: count
        closed_form_cycles? simulated_cycles? contention_cycles?: count
        data_ok?: bool
        rate_factor latency_factor: number
        time_seconds_exact? time_over_bound_exact? iteration_seconds_exact?: rational
        seconds? algbw_GBps? busbw_GBps? time_over_bound? iteration_seconds? compute_seconds? exposed_seconds?: number
        """,
    "design": """
        network bisection bisection_class cost_model currency: text
        endpoints switches links diameter_hops least_disjoint_paths least_shortest_paths: count
        copper_cables optical_cables cables racks: count
        bisection_lower_links mean_shortest_paths cost_exact: rational
        bisection_upper_links: rational?
        bisection_lower_GBps endpoint_GBps: number
        bisection_upper_GBps: number?
        cost ports_cost switches_cost cables_cost energy_cost cost_per_endpoint power_watts: number
        """,
    "placed": "network: text\nscore: number?\nreasons: [text]",
    "ranked": "by costs: text\ncells asked closed_forms: count\nplaces: [placed]",
}
DOCUMENTS |= {
    "designs": "title folder: text\ninterrupted?: bool\ncells: [designed]\nnetworks: [design]\nrankings: [ranked]",
}
