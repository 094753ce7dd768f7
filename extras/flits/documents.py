"""The form of the document that `flits` prints as `--json`, in the words of `certree.api.reports.documents`."""

from certree.api.reports.documents import DOCUMENTS, PARTS

PARTS["flit field"] = "name: text\nbits: count"
PARTS["flit layout"] = """
    topology machine: text
    nodes vcs ports hops trees flit_bits head_bits packet_head_bits: count
    fields: [flit field]
    row_bits rows table_bytes paper_row_bits paper_rows paper_table_bytes: count
    """
DOCUMENTS["flits"] = """
    layouts: [flit layout]
    heads: count?
    """
