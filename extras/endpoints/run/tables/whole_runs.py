"""Runs whose interfaces, endpoints and routers are traced into one file."""

import tempfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from certree.extras.endpoints.model.whole_trace import WholeTrace, joined
from certree.hw.engines.runs import Options, Run
from certree.hw.engines.traces import CHROME_SUFFIX
from certree.models.common.errors import InputError
from certree.models.common.files import check_writable, write_atomically


def with_one_trace(options: Options, run: Callable[[Options], Run]) -> Run:
    """`run` with the options, and both of its traces in the one file that these name. InputError for a name ending in .json."""
    path = options.trace
    assert path is not None
    if path.name.removesuffix(".gz").endswith(CHROME_SUFFIX):
        raise InputError(f"{path}: a trace for Perfetto has no steps of flits; one file of both has another ending")
    check_writable(path, force=options.force)
    with tempfile.TemporaryDirectory(prefix="certree-") as folder:
        messages, flits = Path(folder) / "messages", Path(folder) / "flits"
        done = run(replace(options, trace=messages, trace_flits=flits))
        equal = options.clocks is None or options.clocks.are_equal
        system = None if options.endpoint is None else options.endpoint.name
        whole = WholeTrace(options.mode, system, options.framing, equal, messages.read_text(), flits.read_text())
        write_atomically(path, joined(whole), force=options.force)
    return done
