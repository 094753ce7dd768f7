"""Forms of the documents on joint schedules that commands print as `--json`, in the words of `certree.api.reports.documents`."""

from certree.api.reports.documents import DOCUMENTS, PARTS

PARTS |= {
    "joint_part": "name collective: text\nmessage_bytes transfers first_cycle end_cycle: count\nlate?: [late_member]",
    "late_member": "member cycle: count",
    "joint_bound": "collectives class: [text]\nvalue: rational",
}
DOCUMENTS |= {
    "joint": """
        valid: bool
        topology machine: text
        collectives: [joint_part]
        time_cycles? time_bound_cycles? weighted_ends? weighted_ends_bound? one_after_the_other_cycles?: count
        seconds? time_over_bound?: rational
        bounds?: [joint_bound]
        violations?: [violation]
        violation_counts?: {count}
        """,
    "joint-run": """
        topology machine engine: text
        cycles closed_form_cycles contention_cycles late messages: count
        seconds: rational
        data_ok: bool
        router_effect: text?
        wrong: text?
        stall: [text]
        ends? planned_ends?: {count}
        early?: [text]
        """,
}
