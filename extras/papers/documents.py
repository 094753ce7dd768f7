"""Forms of the documents that commands on papers print as `--json`, in the words of `certree.api.reports.documents`."""

from certree.api.reports.documents import DOCUMENTS, PARTS

PARTS |= {
    "target": "name title: text",
    "cell": "row column: text\nours paper difference tolerance: text?\nagrees: bool?\nsays? why?: text?",
}
DOCUMENTS |= {
    "reproduce": "target? title?: text\ncells?: [cell]\nremarks?: [text]\ntargets?: [target]",
    "gallery": "folder: text\nexamples: [{text}]",
}
