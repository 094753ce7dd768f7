"""Forms of the documents that commands on training print as `--json`, in the words of `certree.api.reports.documents`."""

from certree.api.reports.documents import DOCUMENTS, PARTS

PARTS |= {
    "trained": "name: text\ncompute_seconds waited_seconds exposed_seconds: rational\nbytes: count",
    "group": """
        group topology: text
        members?: [count]
        groups_of_ranks? endpoints?: count
        collectives bytes: count
        busy_seconds utilization: rational
        """,
    "alternative": """
        change: text
        iteration_seconds saved: rational?
        reason? program?: text
        no_tables? no_routers?: text?
        estimate?: bool
        """,
}
DOCUMENTS |= {
    "train": """
        workload topology loop accelerator timing machine order: text
        system: text?
        methods: {text}
        pieces iterations: count
        program no_tables no_routers: text?
        overlap shared joint estimate: bool
        seconds iteration_seconds compute_seconds exposed_seconds idle_seconds: rational
        iteration_ends: [rational]
        exposed_by_phase: {rational}
        samples_per_second: rational?
        groups: [group]
        layers: [trained]
        what_if: [alternative]
        """,
}
