"""What was seen in public files, in small ones: each edit of an own file, and what comes of it."""

from pathlib import Path

import pytest

from tests.extras.clusters.imports.corpus import outcome

FILES = Path(__file__).parent / "files"
CONSOLE = '<object type="PCIDev" gp_index="99" pci_busid="0000:09:00.0" pci_type="0300 [102b:0538]" pci_link_speed="0.2"/>'
THREE_GPUS = "3 endpoints, 3 switches, 16 links, 660.553844 GB/s"
FABRIC = "4 endpoints, 2 switches, 10 links, 250 GB/s"


@pytest.mark.parametrize(
    ("name", "changes", "options", "expected"),
    [
        ("topology.conf", {"SwitchName=spine": "# "}, ",speed=LINK:1GB/s", ": line 4: nothing joins switch leaf2 to leaf1"),
        (
            "teccl.json",
            {"eight": "AMD", '"chassis": 2': '"chassis": 1'},
            ",assume=mi250",
            "16 endpoints, 0 switches, 56 links, 5600",
        ),
        ("teccl.json", {'"eight"': '"Mesh", "side_length": 6'}, ",assume=dgx1", "Mesh is no machine; give the network mesh:6x6"),
        ("fabric.ibnet", {"vendid": "Chassis 1 (guid 0x51)\n\nSpine Nodes\nvendid", "[1]\t": "[1][ext 7]\t"}, "", FABRIC),
        ("machine.xml", {'<object type="NUMANode"': CONSOLE + '<object type="NUMANode"'}, ",speed=SYS:20GB/s", THREE_GPUS),
        (
            "machine.xml",
            {'<object type="NUMANode"': CONSOLE + '<object type="NUMANode"', '"0302 ': '"0300 '},
            ",speed=SYS:20GB/s",
            THREE_GPUS,
        ),
        ("../dgx1.txt", {"\n": "\n# "}, ",speed=NV:25GB/s,links=nvlink", "8 endpoints, 0 switches, 32 links"),
    ],
)
def test_edit(tmp_path: Path, name: str, changes: dict[str, str], options: str, expected: str) -> None:
    text = (FILES / name).read_text()
    for old, new in changes.items():
        assert old in text
        text = text.replace(old, new)
    file = tmp_path / Path(name).name
    file.write_text(text)
    assert expected in outcome(tmp_path, file.name + options)
