"""The form of the document that `frontier` prints as `--json`, in the words of `certree.api.reports.documents`."""

from certree.api.reports.documents import DOCUMENTS, PARTS

PARTS |= {
    "refutation": "point: [count]\nproof: any",
    "method": "method verdict: text\npoint better?: [count]?",
}
DOCUMENTS["frontier"] = """
    valid: bool
    topology collective: text
    root: count?
    rounded?: rounded
    max_chunks? memory? scratch? least_steps?: count?
    model?: text
    points? step_bounds?: [any]
    refuted?: [refutation]
    undecided?: [any]
    complete? all_chunks?: bool
    rate_bound? best_rate? gap?: rational?
    bound?: any
    methods?: [method]
    violations?: [any]
    """
