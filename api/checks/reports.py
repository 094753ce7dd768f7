"""Verification results for other programs: JUnit XML for test reports, SARIF 2.1.0 for annotations of code."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from certree.api.artefacts import load_artefacts
from certree.api.checks.path_verdicts import Batch, CheckedPath
from certree.api.reports.text import place_words
from certree.hw.tables.directory import MANIFEST
from certree.models.common.files import canonical_json, read_bytes
from certree.models.common.shown import printable
from certree.verify.rule import load_rules

_SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
_UNANSWERED = {
    "unreadable": "the file cannot be read",
    "undecided": "the check takes more steps or memory than its budget has",
    "internal error": "a bug in certree ended the check",
}


def junit(batch: Batch) -> bytes:
    """A JUnit test suite with a test case for each path.

    Parameters
    ----------
    batch : Batch
        The result of `verify_all`.

    Returns
    -------
    bytes
        XML, with a failure where a path is invalid, and an error where it could not be read.

    Examples
    --------
    >>> import certree.api as ct
    >>> ct.save(ct.synthesize("ring:4", size="1MiB"), "ring4.json")
    >>> ct.junit(ct.verify_all("ring4.json")).decode().splitlines()[1]
    '<testsuite name="certree verify" tests="1" failures="0" errors="0" skipped="0">'
    """
    failures = sum(one.report is not None and not one.valid for one in batch.checked)
    errors = sum(one.error is not None for one in batch.checked)
    counts = {"tests": len(batch.checked), "failures": failures, "errors": errors, "skipped": len(batch.skipped)}
    suite = Element("testsuite", {"name": "certree verify", **{name: str(count) for name, count in counts.items()}})
    for one in batch.checked:
        case = SubElement(suite, "testcase", {"name": one.path.as_posix(), "classname": printable(_subject(one))})
        if one.error is not None:
            SubElement(case, "error", {"type": one.reason, "message": printable(one.error)})
        elif not one.valid:
            found = _violations(one)
            failure = SubElement(case, "failure", {"type": found[0]["rule"], "message": printable(found[0]["message"])})
            failure.text = "\n".join(f"{violation['rule']}: {printable(violation['message'])}" for violation in found)
    for path in batch.skipped:
        SubElement(SubElement(suite, "testcase", {"name": path.as_posix(), "classname": "csv"}), "skipped")
    indent(suite)
    text: bytes = tostring(suite, encoding="utf-8", xml_declaration=True)
    return text + b"\n"


def sarif(batch: Batch) -> bytes:
    """A SARIF 2.1.0 log with a result for each listed violation.

    Parameters
    ----------
    batch : Batch
        The result of `verify_all`.

    Returns
    -------
    bytes
        JSON. A result has the file, the row, and of a CSV its line.

    Examples
    --------
    >>> import certree.api as ct
    >>> ct.save(ct.synthesize("ring:4", size="1MiB"), "ring4.json")
    >>> len(ct.sarif(ct.verify_all("ring4.json"))) > 100
    True
    """
    from importlib.metadata import version

    results = [result for one in batch.checked for result in _results(one)]
    used, rules = sorted({result["ruleId"] for result in results}), load_rules()
    others, kinds = dict(_UNANSWERED), load_artefacts()
    for name in kinds:
        others |= kinds[name].rules
    meaning = {name: rules[name].meaning if name in rules else others[name] for name in used}
    described = [{"id": name, "shortDescription": {"text": meaning[name]}} for name in used]
    driver = {"name": "certree", "version": version("certree"), "rules": described}
    log = {"$schema": _SCHEMA, "version": "2.1.0", "runs": [{"tool": {"driver": driver}, "results": results}]}
    return canonical_json(log)


def _subject(one: CheckedPath) -> str:
    return one.reason if one.report is None else f"{one.report['collective']} {place_words(one.report)}"


def _violations(one: CheckedPath) -> list[Mapping[str, Any]]:
    return list(one.report["violations"]) if one.report is not None and not one.valid else []


def _results(one: CheckedPath) -> Iterator[dict[str, Any]]:
    if one.error is not None:
        yield _result(one.reason, one.error, one.path, None, 1)
    lines = _csv_lines(one.path) if one.path.suffix == ".csv" and one.error is None else []
    for violation in _violations(one):
        rows = violation.get("rows", [])
        row = rows[0] if rows else None
        line = violation.get("line", lines[row] if row is not None and row < len(lines) else 1)
        yield _result(violation["rule"], violation["message"], one.path, row, line)


def _result(rule: str, message: str, path: Path, row: int | None, line: int) -> dict[str, Any]:
    file = path / MANIFEST if path.is_dir() else path
    place: dict[str, Any] = {"physicalLocation": {"artifactLocation": {"uri": file.as_posix()}, "region": {"startLine": line}}}
    if row is not None:
        place["logicalLocations"] = [{"fullyQualifiedName": f"transfers[{row}]", "kind": "element"}]
    return {"ruleId": rule, "level": "error", "message": {"text": message}, "locations": [place]}


def _csv_lines(path: Path) -> list[int]:
    """The line of each row of a CSV; empty lines count as lines and not as rows."""
    lines = read_bytes(path).decode("utf-8-sig").splitlines()
    return [number for number, line in enumerate(lines[1:], start=2) if line.strip()]
