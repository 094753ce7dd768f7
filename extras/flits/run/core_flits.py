"""Many flits at once, packed and unpacked by the core (`core/routers/flits/flit_bits.hpp`)."""

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

import numpy as np
from numpy.typing import NDArray

from certree.extras.flits.model.flit_format import FlitFormat
from certree.hw import _core

Words = NDArray[np.uint64]  # flits, each as limbs of 64 bits, the lowest first
NUMBERS = ("type", "vc", "dest", "src", "tree")


def pack(layout: FlitFormat, columns: Mapping[str, NDArray[Any]], data: Words | None = None) -> Words:
    """The flits with these fields: NUMBERS and `route`, shape (flits, hops + 1); fields that a flit has not are ignored. `data`:
    zeros where left out. Values must fit (`FlitFormat.encode` checks them). O(flits · bits)."""
    flits = len(columns["type"])
    words = np.zeros((flits, -(-layout.bits // 64)), np.uint64)
    given = {name: np.ascontiguousarray(columns[name], np.uint32).ravel() for name in (*NUMBERS, "route")}
    _core.pack_flits(asdict(layout), given, np.zeros_like(words) if data is None else np.ascontiguousarray(data), words)
    return words


def unpack(layout: FlitFormat, words: Words) -> tuple[dict[str, NDArray[np.uint64]], Words, NDArray[np.bool_]]:
    """The fields of flits, their data, and for each whether its route is one-hot. O(flits · bits)."""
    fields = np.zeros((len(words), len(NUMBERS) + layout.hops + 1), np.uint64)
    data = np.zeros_like(words)
    legal = np.array(_core.unpack_flits(asdict(layout), words, fields, data), bool)
    columns = {name: fields[:, at] for at, name in enumerate(NUMBERS)}
    return columns | {"route": fields[:, len(NUMBERS) :]}, data, legal


def turn(layout: FlitFormat, words: Words) -> Words:
    """The flits as routers pass them on: the routes of messages' heads turn by one field. O(flits · bits)."""
    turned = words.copy()
    _core.turn_flits(asdict(layout), turned)
    return turned


def numbers_of(words: Words) -> list[int]:
    """Each flit as one number."""
    return [int.from_bytes(word.astype("<u8").tobytes(), "little") for word in words]
