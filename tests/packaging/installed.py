"""What an installed certree must do, asked of the Python API in an empty folder: a schedule made, checked, exported, run, drawn."""

import os
import sys
import tempfile

import certree.api as ct


def main() -> None:
    """Raise AssertionError where one does not; every module comes from the installation."""
    schedule = ct.synthesize("torus:4x4", size="64KiB")
    ct.save(schedule, "api.json")
    assert ct.verify("api.json").valid
    tables = ct.export("api.json", "readmemh", "api")
    assert ct.verify(tables).valid
    assert ct.verify("api").valid
    run = ct.simulate(tables)
    assert run.data_ok, run
    assert run.cycles == run.closed_form_cycles, run
    assert len(ct.schemas()) >= 5
    assert ct.bound("torus:4x4").bounds
    ct.draw("torus:4x4", "api.svg")
    ct.report(schedule, "api.html", published=False)
    assert ct.compare("ring:4", sizes=["1KiB"], methods=["ring"]).cells
    for name, module in sys.modules.items():
        file = getattr(module, "__file__", None)
        if name.partition(".")[0] == "certree" and file is not None:
            assert file.startswith(sys.prefix), f"{name} comes from {file}, not from the wheel"
    print(f"{ct.__file__}: right")


if __name__ == "__main__":
    with tempfile.TemporaryDirectory(prefix="certree-installed-") as folder:
        os.chdir(folder)
        main()
