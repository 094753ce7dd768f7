"""The form of the document that `aggregate` prints as `--json`, in the words of `certree.api.reports.documents`."""

from certree.api.reports.documents import DOCUMENTS, PARTS

PARTS["switch"] = "node most_aggregators most_payloads dropped: count\nbusy: rational"
DOCUMENTS["aggregate"] = """
    topology machine engine: text
    seconds bytes_per_second: rational?
    router_effect: text?
    message_bytes cycles flows packet_bytes padded_bytes window aggregators adders timeout latest seed: count
    sent copied lost dropped received resent ignored repeated results_again flit_hops: count
    closed_form_cycles buffer: count?
    packets: [count]
    loss duplicates: rational
    max_link_utilization: rational?
    switches: [switch]
    data_ok: bool
    wrong: any
    stall: [text]
    """
