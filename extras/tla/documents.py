"""The form of the document that `model-check` prints as `--json`, in the words of `certree.api.reports.documents`."""

from certree.api.reports.documents import DOCUMENTS, PARTS

PARTS["model"] = """
    name expected result mode message trace: text
    as_expected: bool?
    distinct_states total_states: count?
    seconds: number
    """
DOCUMENTS["model-check"] = "models: [model]"
