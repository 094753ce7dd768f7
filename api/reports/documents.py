"""Forms of the documents that `--json` prints, one for each kind; `schemas` makes JSON schemas of them. Extras add those of their
commands, in their modules `documents`.

A line of a form lists keys and, behind the colon, their type: `text`, `bool`, `count` (a whole number from 0 on), `number`,
`rational` (a text such as "9/16"), the name of another form, `[T]` (a list), `{T}` (an object whose values are T) or `any`. A `?`
behind a type allows null, one behind a key lets it be missing. Documents may get more keys in later versions, never fewer.
"""

VERSION = 1

#: parts of documents
PARTS = {
    "bound": "kind quantity: text\nvalue: rational\nclass: [text]\nwitness: any",
    "gaps": "bandwidth latency: rational?",
    "violation": "rule message: text\nrows: [count]\nline?: count",
    "rounded": "unit: rational\nrates: [rounded_rate]",
    "rounded_rate": "described used: rational\nlinks: count",
    "place": "rank chunk: count",
    "order": """
        orders ties: count
        same_at_all_ranks: bool
        fixed_by: text
        may_change?: text
        nested: bool?
        expression: text?
        differs tied: [count]?
        bandwidth_bound? free_bound?: rational
        """,
    "packet": "id: count\nhead tail: count?",
    "endpoint_use": "system: text\norder: text?\nusable_cycles: count\noccupancy delays: {rational}\ncounts: {count}",
    "others": "packets arrived longest_latency: count",
    "switched": "opens cycles epoch: count\ndata_ok: bool\nmixed: [text]\nthen: any",
    "degree": "min max: count",
    "diameter": "hops from to: count",
    "proved": "right: bool\nany_timing: bool?\nshared: text?\nadditions: text?\nform? wiring? links? order? contents?: bool",
    "checked": "path: text\nvalid undecided? internal?: bool\nerror? topology? collective?: text",
}

#: documents, by the kind in their `format`
DOCUMENTS = {
    "schedule": """
        valid: bool
        topology collective machine: text
        root period latency_steps latency_bound fewest_steps time_cycles time_bound_cycles: count?
        seconds bytes_per_second algbw busbw time_bound_seconds time_over_bound: rational?
        method fewest_steps_said: text?
        left_out? beyond_budget?: {text}
        rounded?: rounded
        chunks steps total_steps delay repeats transfers message_bytes: count
        bandwidth_time bandwidth_bound: rational?
        gap: gaps
        optimal_in: [text]
        witnesses: [bound]
        fine_slot_cycles?: count?
        base_transfers? virtual_channels? slot_cycles? cycles_before? steps_before? compared_cycles? stated_rounds?: count?
        least_slot_cycles? serialized_rounds? fastest_cycles? skew_tolerance_cycles?: count?
        proved?: proved
        second_opinion?: {text}
        drift_tolerance? bandwidth_bound_any_shares? time_over_bound_any_shares?: rational?
        time_bound_cycles_any_shares?: count?
        shares: text?
        witness_any_shares?: bound
        compared? time_unknown? order_unknown?: text
        order?: order?
        router_effect?: text?
        exact: text?
        better? better_exact?: text?
        exact_point better_point?: [count]?
        exact_cycles simulated_cycles? better_cycles?: count?
        cycles_saved?: number?
        tried?: [text]
        violations?: [violation]
        violation_counts?: {count}
        """,
    "bound": """
        topology collective: text
        root: count?
        bandwidth_bound: rational
        latency_bound scale: count
        bandwidth_bound_any_shares: rational?
        order?: text
        model: [text]
        bounds: [bound]
        time_bound_cycles? message_bytes?: count
        time_bound_cycles_any_shares?: count?
        time_bounds?: [bound]
        seconds? bytes_per_second? time_bound_seconds?: rational
        algbw? busbw?: rational?
        machine?: text
        """,
    "verify-batch": "valid: bool\nfiles: [checked]",
    "export": """
        encoding machine schedule_digest profile: text
        nodes rows chunk_bytes padded_bytes slot_cycles message_bytes row_bits arrival_bits: count
        router_effect: text?
        epoch? header_bits?: count
        """,
    "simulate": """
        topology collective engine: text
        message_bytes: count
        source? run? machine? flow? model? reading?: text
        cycles? contention_cycles? planned_cycles? late? parts? flit_hops? messages? steps? picoseconds? pauses?: count
        closed_form_cycles?: count?
        router_effect?: text
        exact? data_ok?: bool
        max_link_utilization?: rational?
        wrong?: place?
        deadlock? starved? faults?: [text]
        stated_order?: text
        out_of_order?: count
        background?: others
        endpoint?: endpoint_use
        switched?: switched
        seconds? bytes_per_second? algbw? busbw? start_up_seconds? transfer_seconds? reduction_seconds? lost_seconds?: rational?
        """,
    "inject": """
        topology machine: text
        cycles flit_hops: count
        deadlock starved?: [text]
        packets?: [packet]
        traffic?: any
        measured_packets? max_latency?: count?
        mean_latency? accepted_load?: rational?
        """,
    "list": "name? text?: text\nmethods? formats? topologies? rules? targets? presets?: [text]",
    "topology-show": """
        name digest: text
        endpoints switches links: count
        capacity: any
        capacities: {count}
        degree: degree
        diameter: diameter
        direct full_duplex: bool
        unit_bandwidth: rational?
        rounded?: rounded
        """,
    "topology-list": "family? text?: text\nfamilies? modifiers?: {text}\nfiles? imports?: [text]",
}
