"""Headers of images in firing order, which an interface with two banks checks as it loads one (`docs/reference/tables.md`, B7)."""

import zlib
from collections.abc import Mapping

import numpy as np

from certree.hw.formats.systemverilog.package import interfaces
from certree.hw.formats.systemverilog.sizes import Sizes

#: the words of a header in the order in which they are written: names of registers
HEADER_WORDS = (
    "EPOCH", "ROWS", "ARRIVALS", "FIRINGS", "COUNTS", "SLOT_CYCLES", "PERIOD", "REPEATS", "ROUTES", "BOUNDARY", "CRC",
)  # fmt: skip


def header_words(sizes: Sizes) -> dict[int, tuple[int, ...]]:
    """The words of the header of each node before the CRC; epoch 0 for tables without one."""
    settings = (sizes["SLOT_CYCLES"], sizes["PERIOD"], sizes["REPEATS"], len(sizes.tables.routes), sizes["BOUNDARY"])
    epoch = sizes.tables.epoch or 0
    return {
        node: (epoch, rows, arrivals, firings, counts, *settings) for node, rows, arrivals, firings, counts, _ in interfaces(sizes)
    }


def image_headers(sizes: Sizes, images: Mapping[int, tuple[bytes, bytes, bytes]]) -> dict[int, bytes]:
    """The lines of the header of each node, a word of 32 bits each; `images`: lines of its rows, arrivals and routes.

    The last word is the CRC-32 of IEEE 802.3 of the words before it and of all lines as words of a table window, in order, each
    word the least significant byte first. O(bytes).
    """
    headers = {}
    for node, words in header_words(sizes).items():
        crc = zlib.crc32(np.array(words, "<u4").tobytes())
        for lines in images[node]:
            crc = zlib.crc32(_words_of(lines, sizes["WINDOW_WORDS"]), crc)
        headers[node] = "".join(f"{word:08x}\n" for word in (*words, crc)).encode()
    return headers


def _words_of(lines: bytes, words: int) -> bytes:
    """The numbers in lines of hex digits of one length, each as N words, the least significant byte first."""
    width = lines.find(b"\n") + 1
    if not width:
        return b""
    text = np.frombuffer(lines, np.uint8).reshape(-1, width)[:, :-1]
    padded = np.pad(text, ((0, 0), (8 * words - text.shape[1], 0)), constant_values=ord("0"))
    numbers = np.frombuffer(bytes.fromhex(padded.tobytes().decode()), np.uint8).reshape(-1, 4 * words)
    return numbers[:, ::-1].tobytes()
