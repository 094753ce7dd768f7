"""Forms of the documents that commands on bundles print as `--json`, in the words of `certree.api.reports.documents`."""

from certree.api.reports.documents import DOCUMENTS, PARTS

PARTS |= {
    "item": "name status text: text",
}
DOCUMENTS |= {
    "bundle": """
        valid: bool
        kind sha256 trust: text
        topology collective: text?
        root: count?
        bytes: count
        made_with: {text}
        items: [item]
        violations?: [violation]
        """,
}
