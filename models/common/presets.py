"""Presets: TOML files that come with certree, one folder for each kind, and users' files of the same kind."""

import tomllib
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import Any

from certree.models.common.errors import InputError, unknown_name
from certree.models.common.files import read_bytes


@dataclass(frozen=True)
class Presets:
    """The TOML files in `folder` of a `package`; error messages call one of them a `kind` and are of class `error`."""

    package: str
    folder: str
    kind: str
    error: type[InputError] = InputError

    def names(self) -> list[str]:
        """The names of the files, without their suffix."""
        files = (resources.files(self.package) / self.folder).iterdir()
        return sorted(entry.name.removesuffix(".toml") for entry in files if entry.name.endswith(".toml"))

    def described(self) -> dict[str, str]:
        """The place of each file in the source tree, by name."""
        place = self.package.removeprefix("certree.").replace(".", "/")
        return {name: f"{place}/{self.folder}/{name}.toml" for name in self.names()}

    def read(self, name: str) -> bytes:
        """The bytes of the preset of that name, or of the user's file where the name ends in .toml; an error lists the names."""
        if name in self.names():
            return (resources.files(self.package) / self.folder / f"{name}.toml").read_bytes()
        if name.endswith(".toml"):
            return read_bytes(Path(name))
        raise self.error(unknown_name(self.kind, name, self.names(), "or a file ending in .toml"))

    def load(self, name: str) -> dict[str, Any]:
        """The parsed file that `read` finds; `error` where it is not TOML."""
        return parse_toml(self.read(name), name, self.error)


def parse_toml(data: bytes, where: str, error: type[InputError] = InputError) -> dict[str, Any]:
    """The table in `data`; `error` when it is not TOML."""
    try:
        return tomllib.loads(data.decode())
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as reason:
        raise error(f"{where} is not TOML: {reason}") from None
