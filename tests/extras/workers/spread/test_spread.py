"""A synthesis on several workers, and for several seeds: the same bytes as by one worker."""

import pytest

import certree.api as ct
from certree.models.common.errors import UnsupportedError
from certree.models.common.files import canonical_json
from certree.models.schedule.symmetric.symmetric_file import any_schedule_document
from tests.cli.running import assert_bad_input, certree


def bytes_of(schedule) -> bytes:
    return canonical_json(any_schedule_document(schedule))


@pytest.mark.parametrize(
    ("network", "collective", "arguments"),
    [
        ("mesh:2x2", "all-reduce", {"size": "1MiB"}),
        ("ring:4", "all-reduce", {"size": "1KiB"}),
        ("ring:5", "all-gather", {"size": "64KiB", "run": "fastest"}),
        ("switch:3", "all-reduce", {"size": "256KiB"}),
        ("mesh:2x3", "all-to-all", {"size": "64KiB"}),
        ("ring:3", "broadcast", {"root": 1, "size": "1MiB", "effort": 2}),
    ],
)
def test_the_same_bytes_whatever_the_number_of_workers(network, collective, arguments):
    alone = ct.synthesize(network, collective, **arguments)
    assert bytes_of(ct.synthesize(network, collective, **arguments, workers=2)) == bytes_of(alone)


@pytest.mark.parametrize(("network", "method", "options"), [("mesh:2x3", "packing", {"moves": "300"}), ("ring:3", "auto", {})])
def test_the_best_of_several_seeds(network, method, options):
    """Where several are equally fast, the schedule of the first seed is kept."""
    asked = {"size": "64KiB", "method": method, "options": options}
    single = [ct.synthesize(network, **asked, seed=seed) for seed in (3, 4)]
    cycles = [ct.simulate(one).closed_form_cycles for one in single]
    best = bytes_of(single[cycles.index(min(cycles))])
    for workers in (1, 2):
        assert bytes_of(ct.synthesize(network, **asked, seed=3, seeds=2, workers=workers)) == best


def test_what_no_method_makes():
    outcome = certree("synthesize", "mesh:2x3", "--method", "hdrm", "--seeds", 2, "--workers", 2)
    assert outcome.code == 2
    assert outcome.err.splitlines()[-1].startswith("error: hdrm needs a BiGraph")


def test_one_method_with_one_seed_is_not_cut_into_parts():
    """A schedule as published has no closed form, by which seeds would be compared."""
    asked = {"method": "double-binary-tree", "options": {"rounds": "published"}, "size": "1KiB"}
    assert bytes_of(ct.synthesize("mesh:3x3", **asked, workers=2)) == bytes_of(ct.synthesize("mesh:3x3", **asked))


def test_no_time_limit_for_several():
    for more in (("--workers", 2), ("--seeds", 2)):
        assert_bad_input(certree("synthesize", "ring:4", "--time-limit", "1s", *more), "a time limit is for one search")


def test_an_order_of_additions_is_kept_by_workers() -> None:
    """`--order` holds for each candidate of any method."""
    asked = {"size": "4KiB", "order": "rank"}
    assert bytes_of(ct.synthesize("ring:3", **asked, workers=2)) == bytes_of(ct.synthesize("ring:3", **asked))
    with pytest.raises(UnsupportedError, match="order rank"):
        ct.synthesize("ring:4", method="packing", **asked, seeds=2)
