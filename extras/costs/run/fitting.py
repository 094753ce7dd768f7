"""GenModel's parameters from measured times, and the benchmarks that measure them on this computer."""

from collections.abc import Callable, Sequence
from fractions import Fraction
from pathlib import Path
from statistics import median

from certree.api.reports.text import microseconds_words
from certree.extras.costs.model.fitting.fit import Fit
from certree.extras.costs.model.fitting.fit import fit as fitted
from certree.extras.costs.model.fitting.measurements import Measurement, measurements_csv, read_measurements
from certree.extras.costs.model.fitting.parameter_file import parameters_toml
from certree.models.common.errors import InputError, unknown_name
from certree.models.common.files import check_writable, write_atomically

DEVICES = ("auto", "cpu", "gpu")  # that may add


def fit(source: str | Path | Sequence[Measurement], *, confidence: float = 0.95, incast: bool = True, least: bool = False) -> Fit:
    """Alpha, 2 beta + gamma, delta, epsilon and w_t of GenModel, fitted to times of co-located PS.

    With exchanges or additions beta and gamma are fitted, too. Exchanges over links between switches give alpha, beta, epsilon and
    w_t of these, in `links` of the result. Parameters are in seconds per step (alpha) and per float (the others).

    Parameters
    ----------
    source
        Measurements, or a CSV with the columns benchmark,participants,floats,seconds.
    confidence
        Of the intervals.
    incast : bool
        Whether epsilon is fitted; without it, epsilon is 0.
    least : bool
        Whether the minimum of repeated runs is used instead of the median.

    Returns
    -------
    Fit

    Raises
    ------
    InputError
        Names the parameters that the data do not determine.

    Examples
    --------
    >>> import certree.api as ct
    >>> times = [ct.Measurement("co-located-ps", n, f, 1e-3 + f * 4e-9 * (n - 1) / n) for n in (2, 3, 4, 5) for f in (10**5, 10**6)]
    >>> round(ct.fit(times, incast=False).estimates["alpha"].value, 6)
    0.0005
    """
    measurements = read_measurements(Path(source)) if isinstance(source, str | Path) else list(source)
    return fitted(measurements, confidence=confidence, incast=incast, least=least)


def save_parameters(
    found: Fit, path: str | Path, *, name: str = "fitted", bandwidth: Fraction | None = None, force: bool = False
) -> None:
    """Write fitted parameters as a TOML file for `cost` and the method gentree.

    Parameters
    ----------
    found : Fit
        What `fit` returned.
    path : str or path
        The file.
    name : str
        The name of the parameters.
    bandwidth : Fraction, optional
        Bytes per second of a link; it splits 2 beta + gamma where only their sum was measured.
    force : bool
        Whether the file may exist.

    Raises
    ------
    InputError
        For a file that exists; and for a bandwidth that is missing, not needed, not above 0, or contradicts the fit.
    """
    write_atomically(Path(path), parameters_toml(found, name, bandwidth), force=force)


def measure(
    servers: Sequence[int] = (2, 3, 4, 5, 6),
    floats: Sequence[int] = (100_000, 300_000, 1_000_000),
    vectors: Sequence[int] = (2, 3, 4, 6, 8, 12),
    *,
    repetitions: int = 7,
    threads: int = 1,
    device: str = "auto",
    output: str | Path | None = None,
    force: bool = False,
    progress: Callable[[str], None] | None = None,
) -> list[Measurement]:
    """Times of additions of vectors, and of exchanges and co-located PS between processes over loopback sockets, for `fit`.

    Every run checks its sums.

    Parameters
    ----------
    servers : sequence of int
        Numbers of processes.
    floats : sequence of int
        Lengths of the vectors.
    vectors : sequence of int
        How many vectors are added up.
    repetitions : int
        Of each measurement.
    threads : int
        That add on the CPU; 1 with a GPU.
    device : {"auto", "cpu", "gpu"}
        What adds; a GPU through CuPy or PyTorch; "auto" takes one where there is one.
    output : str or path, optional
        A CSV for the measurements, written on Ctrl-C too.
    force : bool
        Whether `output` may exist.
    progress : callable, optional
        Receives a line for each measurement.

    Returns
    -------
    list of Measurement

    Raises
    ------
    InputError
        Before anything is measured, for numbers out of range, without a GPU that was asked for, for an `output` that exists, and
        for one whose folder does not.

    Examples
    --------
    >>> import certree.api as ct
    >>> len(ct.measure([2], [1000], [2], repetitions=1))
    3
    """
    from certree.extras.costs.run.host.gpu import find_gpu, require_gpu
    from certree.extras.costs.run.host.measuring import Benchmarks

    if output is not None:
        check_writable(Path(output), force=force)
    if device not in DEVICES:
        raise InputError(unknown_name("device", device, DEVICES))
    gpu = None if device == "cpu" else require_gpu() if device == "gpu" else find_gpu()
    if gpu is not None and threads > 1:
        raise InputError(f"threads is {threads}, but {gpu.name} adds; allowed with it: 1, or device cpu")
    measured: list[Measurement] = []
    try:
        for runs in Benchmarks(tuple(servers), tuple(vectors), tuple(floats), repetitions, threads, gpu).run():
            measured += runs
            if progress is not None:
                one, time = runs[0], microseconds_words(median(run.seconds for run in runs))
                progress(f"{one.benchmark}, {one.participants} × {one.floats:,}: {time}")
    finally:
        if measured and output is not None:
            write_atomically(Path(output), measurements_csv(measured), force=force)
            if progress is not None:
                progress(f"wrote {output}")
    return measured
