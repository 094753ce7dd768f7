"""A latency of null in a file is one that the machine decides, for all links or for one."""

import json
from pathlib import Path

import pytest

from certree.models.common.errors import InputError
from certree.models.network.spec import parse_topology
from certree.models.network.topology import UNKNOWN_LATENCY
from certree.models.network.topology_file import topology_document
from tests.networks import load_topology


def written(folder: Path, latency: object) -> Path:
    document = topology_document(parse_topology("ring:3"))
    document["links"]["latency"] = latency
    (folder / "net.json").write_text(json.dumps(document))
    return folder / "net.json"


@pytest.mark.parametrize(
    ("latency", "read"),
    [
        (None, [UNKNOWN_LATENCY] * 6),
        ([None] * 6, [UNKNOWN_LATENCY] * 6),
        ([7, None, 0, -1, None, 3], [7, UNKNOWN_LATENCY, 0, UNKNOWN_LATENCY, UNKNOWN_LATENCY, 3]),
    ],
)
def test_null(tmp_path: Path, latency: object, read: list[int]) -> None:
    assert load_topology(written(tmp_path, latency)).latency.tolist() == read


@pytest.mark.parametrize(
    ("latency", "reason"),
    [
        ([None] * 5, "links.latency has 5 rows; expected 6"),
        ([None, -2, 0, 0, 0, 0], "links.latency row 1: -2; allowed: -1 to"),
        ([None, "7", 0, 0, 0, 0], "links.latency row 1: '7' is not a whole number"),
    ],
)
def test_other_entries_are_still_checked(tmp_path: Path, latency: object, reason: str) -> None:
    with pytest.raises(InputError, match=reason):
        load_topology(written(tmp_path, latency))


def test_node_link(tmp_path: Path) -> None:
    """An edge in node-link JSON, with null and with a number."""
    edges = [{"source": 0, "target": 1, "latency": None}, {"source": 1, "target": 2, "latency": 7}]
    path = tmp_path / "graph.json"
    path.write_text(json.dumps({"nodes": [{"id": node} for node in range(3)], "edges": edges}))
    assert load_topology(path).latency.tolist() == [UNKNOWN_LATENCY, UNKNOWN_LATENCY, 7, 7]
