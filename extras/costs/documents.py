"""Forms of the documents that commands on costs print as `--json`, in the words of `certree.api.reports.documents`."""

from certree.api.reports.documents import DOCUMENTS, PARTS

PARTS |= {
    "median": "benchmark device link: text\nparticipants floats: count\nseconds: number",
    "interval": "value low high: number",
    "fitted": "benchmark: text\nparticipants floats: count\nseconds fitted residual: number",
    "kind_fit": "parameters: {interval}\nthreshold: interval?\npoints: [fitted]",
    "priced": """
        subject: text
        method: text?
        not_applicable? refuted? topology? collective?: text
        root?: count?
        blocks? granules?: count
        members?: [count]
        valid?: bool
        seconds? links? additions? accesses?: rational
        terms?: [any]
        steps?: count
        traffic? optimality? plans?: any
        """,
}
DOCUMENTS |= {
    "cost": "model params: text\nmessage_bytes: count\ncells: [priced]",
    "fit": "confidence: number\nparameters: {interval}\nthreshold: interval?\npoints: [fitted]\nlinks: {kind_fit}",
    "measure": "runs: count\nmedians: [median]",
}
