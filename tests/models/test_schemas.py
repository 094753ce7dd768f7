"""The JSON schemas describe what is written, and what they refuse the loaders refuse."""

from dataclasses import replace

import jsonschema
import pytest
from referencing import Registry, Resource

from certree.api.listings import schemas
from certree.extras.training.model.accelerators.systolic import SystolicArrays
from certree.extras.training.model.transformer import parse_transformer
from certree.extras.training.model.workload_file import WORKLOADS, load_workload, read_workload, workload_document
from certree.models.common.errors import InputError
from certree.models.machine.machine import MACHINES, load_machine
from certree.models.network.spec import parse_topology
from certree.models.network.topology_file import topology_document, topology_from_document
from certree.models.schedule.collective import ALLTOALLV, CollectiveKind
from certree.models.schedule.made_for import MadeFor
from certree.models.schedule.schedule_file import schedule_document, schedule_from_document
from certree.models.schedule.symmetric.symmetric_file import symmetric_document, symmetric_from_document
from tests.models.examples import built, pair_all_reduce, ring_all_gather, turning
from tests.models.network.test_topology_file import changed

MADE_FOR = MadeFor(1 << 20, load_machine("multitree"))
SCHEMAS = schemas()
LOADERS = {
    "topology": topology_from_document,
    "schedule": schedule_from_document,
    "symmetric-schedule": symmetric_from_document,
    "workload": read_workload,
}


def validator(name):
    """A validator of one schema that resolves references to the others."""
    registry = Registry().with_resources((schema["$id"], Resource.from_contents(schema)) for schema in SCHEMAS.values())
    return jsonschema.Draft202012Validator(SCHEMAS[name], registry=registry)


@pytest.mark.parametrize("name", list(SCHEMAS))
def test_schema_is_a_schema(name):
    jsonschema.Draft202012Validator.check_schema(SCHEMAS[name])
    assert SCHEMAS[name]["$id"] == f"urn:certree:{name}:1"


def test_schemas_name_what_the_code_knows():
    assert SCHEMAS["schedule"]["properties"]["collective"]["properties"]["kind"]["enum"] == [*CollectiveKind, ALLTOALLV]
    assert set(SCHEMAS["tables"]["properties"]["collective"]["enum"]) == {*CollectiveKind, ALLTOALLV}


TOPOLOGIES = ["ring:2", "torus:3x3,without-node=4,capacity=2", "mesh:2x2x2", "full:4"]
SCHEDULES = [
    pair_all_reduce(),
    pair_all_reduce(period=2, repeats=9, delay=3),
    ring_all_gather(4),
    built(routes=((0, 1, 0),), route=[0], rounds=[3]),
    replace(pair_all_reduce(), made_for=MADE_FOR),
]


@pytest.mark.parametrize("spec", TOPOLOGIES)
def test_written_topologies_conform(spec):
    validator("topology").validate(topology_document(parse_topology(spec)))


@pytest.mark.parametrize("made", SCHEDULES)
def test_written_schedules_conform(made):
    validator("schedule").validate(schedule_document(made))


@pytest.mark.parametrize("named", [True, False])
def test_written_symmetric_schedules_conform(named):
    document = symmetric_document(turning("ring:5", named=named))
    validator("symmetric-schedule").validate(document)
    assert ("nodes" in document["topology"]) == ("permutations" in document["action"]) == (not named)


@pytest.mark.parametrize("name", MACHINES.names())
def test_presets_conform(name):
    validator("machine").validate(MACHINES.load(name))


@pytest.mark.parametrize("name", WORKLOADS.names())
def test_workloads_conform(name):
    validator("workload").validate(WORKLOADS.load(name))
    validator("workload").validate(workload_document(load_workload(name)))


def paths(document, prefix=()):
    """The path of every entry of a document."""
    entries = document.items() if isinstance(document, dict) else enumerate(document) if isinstance(document, list) else ()
    for key, value in entries:
        yield (*prefix, key)
        yield from paths(value, (*prefix, key))


WRONG = [None, True, -7, 1.5, 1 << 40, "text", [], {}, [None], {"x": 1}]
DOCUMENTS = [
    ("topology", topology_document(parse_topology("ring:2"))),
    ("symmetric-schedule", symmetric_document(turning("ring:2", named=False))),
    ("schedule", schedule_document(replace(built(), made_for=MADE_FOR))),
    ("symmetric-schedule", symmetric_document(replace(turning("ring:2"), made_for=MADE_FOR))),
    ("schedule", schedule_document(replace(pair_all_reduce(), routes=((0,),), buffers=2, virtual_channel=[3]))),
    ("workload", workload_document(parse_transformer("transformer:layers=1,width=4,heads=2,sequence=2,data=2", SystolicArrays()))),
    ("workload", WORKLOADS.load("multitree-alphagozero")),
]


@pytest.mark.parametrize(("name", "document"), DOCUMENTS)
def test_what_the_schema_refuses_the_loader_refuses(name, document):
    """Every entry in turn becomes each of a list of wrong values, disappears, or gets an unknown neighbour.

    What an object in the place of the certificate holds is left to the checker, which reads it with care.
    """
    check, refused = validator(name), 0
    for path in paths(document):
        *parents, last = path
        variants = [changed(document, path, value) for value in WRONG]
        if isinstance(last, str):
            variants.append(changed(document, (*parents, "unknown"), 1))
            without = changed(document, path, None)
            place = without
            for key in parents:
                place = place[key]
            del place[last]
            variants.append(without)
        for variant in variants:
            if not check.is_valid(variant) and not isinstance(variant.get("certificate"), dict):
                refused += 1
                with pytest.raises(InputError):
                    LOADERS[name](variant, "file")
    assert refused > 100
