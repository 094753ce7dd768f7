"""Topologies in files: our JSON, node-link JSON and GraphML, in and out, and files that are refused."""

import copy
import gzip
import json

import networkx as nx
import numpy as np
import pytest

from certree.models.common.errors import InputError, TopologyError
from certree.models.network.network_files import save_topology
from certree.models.network.spec import parse_topology
from certree.models.network.topology import UNKNOWN_LATENCY, NodeKind
from certree.models.network.topology_file import topology_document, topology_from_document
from tests.models.examples import network
from tests.networks import load_topology


@pytest.mark.parametrize("name", ["net.json", "net.json.gz"])
@pytest.mark.parametrize("spec", ["ring:5", "mesh:3x3,without-node=4,capacity=2", "torus:3x4,without-link=0>1"])
def test_round_trip(tmp_path, spec, name):
    topology, file = parse_topology(spec), tmp_path / name
    save_topology(topology, file)
    again = parse_topology(str(file))
    assert again.digest == topology.digest
    assert topology_document(again) == topology_document(topology)
    save_topology(again, tmp_path / f"again-{name}")
    assert (tmp_path / f"again-{name}").read_bytes() == file.read_bytes()


def test_round_trip_of_everything(tmp_path):
    topology = network(
        4,
        [(0, 2, 3, 10), (2, 0, 3, 10), (1, 2, 1, 0), (2, 1, 1, 0)],
        name="a switch",
        kind=np.array([0, 0, 1, 2], np.int8),
        reducing=np.array([False, False, True, False]),
        coordinates=np.array([[0, -1], [0, 1], [0, 0], [9, 9]], np.int32),
        labels=("a", "b", "s", "ü"),
        bandwidth=16 * 10**9,
        clock=10**9,
    )
    save_topology(topology, tmp_path / "net.json")
    again = load_topology(tmp_path / "net.json")
    assert topology_document(again) == topology_document(topology)
    assert (again.labels, again.bandwidth, again.clock) == (topology.labels, 16 * 10**9, 10**9)
    assert again.latency.tolist() == [10, 10, 0, 0]
    assert not again.is_direct


def test_save_refuses_to_overwrite(tmp_path):
    file = tmp_path / "net.json"
    file.write_text("mine")
    with pytest.raises(InputError, match="exists; pass --force"):
        save_topology(parse_topology("ring:4"), file)
    assert file.read_text() == "mine"
    save_topology(parse_topology("ring:4"), file, force=True)
    assert load_topology(file).name == "ring:4"


@pytest.mark.parametrize("suffix", ["graphml", "graphml.gz", "json"])
def test_graphs_that_people_hand_in(tmp_path, suffix):
    """A 4-regular graph with whole-number names: ids stay, each undirected edge becomes a link both ways, sorted."""
    graph = nx.random_regular_graph(4, 12, seed=1)
    file = tmp_path / f"graph.{suffix}"
    if suffix == "json":
        file.write_text(json.dumps(nx.node_link_data(graph, edges="edges")))
    else:
        nx.write_graphml(graph, tmp_path / "graph.graphml")
        if suffix == "graphml.gz":
            file.write_bytes(gzip.compress((tmp_path / "graph.graphml").read_bytes()))
    topology = parse_topology(str(file))
    expected = sorted([(a, b) for a, b in graph.edges] + [(b, a) for a, b in graph.edges])
    assert list(zip(topology.src.tolist(), topology.dst.tolist(), strict=True)) == expected
    assert topology.labels is None
    assert set(topology.latency.tolist()) == {UNKNOWN_LATENCY}
    assert topology.is_full_duplex


def test_directed_graph_with_attributes(tmp_path):
    graph = nx.DiGraph()
    graph.add_node("gpu0")
    graph.add_node("gpu1", kind="endpoint")
    graph.add_node("hub", kind="switch", reducing=True)
    for tail, head, capacity in (("gpu0", "hub", 2), ("hub", "gpu0", 2), ("gpu1", "hub", 1), ("hub", "gpu1", 1)):
        graph.add_edge(tail, head, capacity=capacity, latency=7)
    nx.write_graphml(graph, tmp_path / "star.graphml")
    topology = load_topology(tmp_path / "star.graphml")
    assert topology.labels == ("gpu0", "gpu1", "hub")
    assert topology.kind.tolist() == [NodeKind.ENDPOINT, NodeKind.ENDPOINT, NodeKind.SWITCH]
    assert topology.reducing.tolist() == [False, False, True]
    assert list(zip(topology.src.tolist(), topology.dst.tolist(), topology.capacity.tolist(), strict=True)) == [
        (0, 2, 2), (1, 2, 1), (2, 0, 2), (2, 1, 1),
    ]  # fmt: skip
    assert set(topology.latency.tolist()) == {7}


def test_gaps_in_whole_number_names_become_absent_ids(tmp_path):
    graph = nx.Graph([(1, 2), (2, 5), (5, 1)])
    nx.write_graphml(graph, tmp_path / "gap.graphml")
    topology = load_topology(tmp_path / "gap.graphml")
    assert topology.endpoints.tolist() == [1, 2, 5]
    assert len(topology.kind) == 6


@pytest.mark.parametrize("name", ["net.graphml", "net.graphml.gz"])
@pytest.mark.parametrize("spec", ["hypercube:3", "torus:3x4,without-link=0>1", "mesh:3x3,without-node=4,capacity=3"])
def test_graphml_out_and_in(tmp_path, spec, name):
    """The nodes and links are the same, the links in the order of (src, dst)."""
    topology = parse_topology(spec)
    save_topology(topology, tmp_path / name)
    again = parse_topology(str(tmp_path / name))
    columns = ("src", "dst", "capacity", "latency")
    rows = [sorted(zip(*(getattr(net, column).tolist() for column in columns), strict=True)) for net in (topology, again)]
    assert rows[0] == rows[1] == list(zip(*(getattr(again, column).tolist() for column in columns), strict=True))
    assert again.kind.tolist() == topology.kind.tolist()


def test_graphml_keeps_switches_latencies_and_parallel_links(tmp_path):
    topology = network(
        3,
        [(0, 2, 1, 5), (0, 2, 2, 9), (1, 2, 1, -1), (2, 0, 1, 5), (2, 1, 1, -1)],
        kind=np.array([0, 0, 1], np.int8),
        reducing=np.array([False, False, True]),
        labels=("a", "b", "s"),
    )
    save_topology(topology, tmp_path / "net.graphml")
    again = load_topology(tmp_path / "net.graphml")
    assert again.digest == topology.digest
    assert 'attr.name="label"' in (tmp_path / "net.graphml").read_text()


def node_link(**changes):
    document = {"nodes": [{"id": 0}, {"id": 1}], "edges": [{"source": 0, "target": 1}]}
    return document | changes


GRAPHML = '<?xml version="1.0"?><graphml xmlns="http://graphml.graphdrawing.org/xmlns">{}</graphml>'


@pytest.mark.parametrize(
    ("name", "text", "reason"),
    [
        ("empty.json", "", "is not JSON"),
        ("text.json", "hello", "is not JSON: Expecting value: line 1 column 1"),
        ("list.json", "[1, 2]", 'no "format" field; expected \'certree-topology\' version 1'),
        ("foreign.json", '{"format": "gexf", "version": 1}', "format is 'gexf'; expected 'certree-topology'"),
        ("old.json", '{"format": "certree-topology", "version": 0}', "version 0 cannot be read; expected 1"),
        ("true.json", '{"format": "certree-topology", "version": true}', "version True cannot be read; expected 1"),
        ("twice.json", '{"nodes": [], "nodes": []}', "key 'nodes' is given twice"),
        ("nan.json", '{"nodes": [{"id": NaN}], "edges": []}', "NaN is not a number"),
        ("far.json", '{"nodes": [{"id": 1e999}], "edges": []}', "1e999 is too large a number"),
        ("bytes.json", b"\xff\xfe\xff", "is not JSON"),
        ("deep.json", "[" * 100000, "is not JSON"),
        ("fake.json.gz", "{}", "cannot read"),
        ("cut.json.gz", gzip.compress(b'{"nodes": []}' * 99, mtime=0)[:30], "cannot read"),
        ("bad.json.gz", b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\xff\xff\xff\xff", "cannot read"),
        ("noedges.json", '{"nodes": []}', 'neither a "format" field nor node-link "links" or "edges"'),
        ("odd.json", json.dumps(node_link(nodes=3)), "not networkx node-link JSON"),
        ("one.json", json.dumps(node_link(nodes=[{"id": 0}], edges=[])), "1 node(s); a network has 2 to"),
        ("apart.json", json.dumps(node_link(edges=[])), "disconnected: no path from 0 to 1"),
        ("same.json", json.dumps(node_link(nodes=[{"id": 1}, {"id": "1"}], edges=[])), "two nodes are called '1'"),
        ("self.json", json.dumps(node_link(edges=[{"source": 0, "target": 0}])), "leads from a node to itself"),
        ("kind.json", json.dumps(node_link(nodes=[{"id": 0, "kind": "gpu"}, {"id": 1}])), "kind 'gpu'; allowed: endpoint, switch"),
        ("add.json", json.dumps(node_link(nodes=[{"id": 0, "reducing": "yes"}, {"id": 1}])), "reducing is 'yes'; allowed: true"),
        ("cap.json", json.dumps(node_link(edges=[{"source": 0, "target": 1, "capacity": -0.5}])), "capacity is -0.5; allowed"),
        ("zero.json", json.dumps(node_link(edges=[{"source": 0, "target": 1, "capacity": 0}])), "capacity is 0; allowed"),
        ("bool.json", json.dumps(node_link(edges=[{"source": 0, "target": 1, "capacity": True}])), "capacity is True; allowed"),
        ("text.json", json.dumps(node_link(edges=[{"source": 0, "target": 1, "latency": "150"}])), "latency is '150'; allowed"),
        ("some.json", json.dumps(node_link(nodes=[{"id": i} for i in range(3)], edges=[
            {"source": 0, "target": 1, "capacity": 2}, {"source": 1, "target": 2}])), "give all or none"),
        ("huge.json", json.dumps(node_link(nodes=[{"id": 0}, {"id": 99999999}])), "node id 99999999; allowed: up to 1048575"),
        ("text.graphml", "hello", "not GraphML"),
        ("svg.graphml", "<svg/>", "not GraphML"),
        ("empty.graphml", GRAPHML.format(""), "not GraphML"),
        ("cut.graphml", GRAPHML.format("<graph>"), "not GraphML"),
        ("none.graphml", GRAPHML.format('<graph edgedefault="undirected"/>'), "0 node(s); a network has 2 to"),
    ],
)  # fmt: skip
def test_bad_file(tmp_path, name, text, reason):
    file = tmp_path / name
    file.write_bytes(text if isinstance(text, bytes) else text.encode())
    with pytest.raises(InputError) as caught:
        parse_topology(str(file))
    assert reason in str(caught.value)
    assert str(file) in str(caught.value)
    assert "\n" not in str(caught.value)


def test_folder_instead_of_a_file(tmp_path):
    (tmp_path / "net.json").mkdir()
    with pytest.raises(InputError, match="Is a directory"):
        parse_topology(str(tmp_path / "net.json"))


def changed(document, path, value):
    """The document with one entry replaced."""
    document = copy.deepcopy(document)
    *parents, last = path
    place = document
    for key in parents:
        place = place[key]
    place[last] = value
    return document


@pytest.mark.parametrize(
    ("path", "value", "reason"),
    [
        (["nodes"], [], "nodes is []; expected a table of fields"),
        (["links"], None, "links is None; expected a table of fields"),
        (["name"], 3, "name is 3; expected a string"),
        (["bandwidth"], 0, "bandwidth is 0; allowed: whole numbers from 1 or null"),
        (["clock"], 1.5, "clock is 1.5; allowed: whole numbers from 1 or null"),
        (["colour"], "red", "unknown field 'colour'; known: name, "),
        (["nodes", "colour"], "red", "nodes: unknown field 'colour'"),
        (["links", "cost"], [], "links: unknown field 'cost'"),
        (["nodes", "kind"], ["endpoint", "gpu", "endpoint"], "nodes: kind must be a list of endpoint, switch, absent"),
        (["nodes", "kind"], [["endpoint"]] * 3, "nodes: kind must be a list of"),
        (["nodes", "kind"], [], "nodes.reducing row 0: 0; allowed: 0 to -1"),
        (["nodes", "reducing"], [3], "nodes.reducing row 0: 3; allowed: 0 to 2"),
        (["nodes", "coordinates"], [[0, 0], [1]], "nodes: coordinates must hold 3 lists of whole numbers of one length"),
        *(
            (["nodes", "coordinates"], value, "nodes: coordinates must hold 3 lists")
            for value in ([[0], [1], [2.0]], [0, 1, 2], [[0], [1], [1 << 40]])
        ),
        (["nodes", "labels"], ["a", "b"], "nodes: labels must be a list of 3 strings"),
        (["links", "src"], [0, 1, 2, 0, 1], "links.dst has 6 rows; expected 5"),
        (["links", "dst"], [1, 2, 0, 1, 2, "0"], "links.dst row 5: '0' is not a whole number"),
        *((["links", "dst", 0], value, f"links.dst row 0: {value} is not a whole number") for value in (1.0, True, None)),
        (["links", "dst", 0], 3, "dst is 3; allowed: 0 to 2"),
        (["links", "capacity", 4], 0, "links.capacity row 4: 0; allowed: 1 to"),
        (["links", "capacity"], None, "links.capacity must be a list of whole numbers"),
        (["links", "latency"], [0] * 5, "links.latency has 5 rows; expected 6"),
        (["links", "latency"], [0, 1, 2, 3, 4, -2], "links.latency row 5: -2; allowed: -1 to"),
    ],
)
def test_bad_document(path, value, reason):
    document = topology_document(parse_topology("ring:3"))
    document["nodes"]["reducing"] = [0]
    assert topology_from_document(document, "net.json").digest
    with pytest.raises(TopologyError) as caught:
        topology_from_document(changed(document, path, value), "net.json")
    assert reason in str(caught.value)


def test_graphml_with_entities_is_refused(tmp_path):
    """Ten letters, ten times ten thousand million: nothing is unpacked."""
    entities = '<!ENTITY a "aaaaaaaaaa">' + "".join(f'<!ENTITY {chr(98 + i)} "{f"&{chr(97 + i)};" * 10}">' for i in range(9))
    file = tmp_path / "net.graphml"
    save_topology(parse_topology("ring:3"), file)
    text = file.read_text()
    assert "<graphml" in text
    file.write_text(text.replace("<graphml", f"<!DOCTYPE graphml [{entities}]><graphml", 1).replace("endpoint", "&j;", 1))
    with pytest.raises(TopologyError, match=r"net\.graphml: line \d+: document types and entities are not read"):
        load_topology(file)
