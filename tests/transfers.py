"""Transfers of small schedules, written as text."""

import re

REDUCE, COPY = 0, 1
#: chunk, op, step, src, dst
Row = tuple[int, int, int, int, int]
_MOVE = re.compile(r"(?:(\d+):)?(\d+)([+>])(\d+)(?:@(\d+))?")


def transfers(text: str, *, chunk: int = 0, later: int = 0) -> list[Row]:
    """Steps with `;` between them, in each `0+1` (0 reduces into 1) or `0>1` (0 copies to 1), in this order.

    `3:0>1` is of chunk 3, others of `chunk`; `0>1@7` is in step 7. All are `later` steps later.

    >>> transfers("0+1 2:0+1; 1>0")
    [(0, 0, 0, 0, 1), (2, 0, 0, 0, 1), (0, 1, 1, 1, 0)]
    """
    found = []
    for step, moves in enumerate(text.split(";")):
        for move in moves.split():
            match = _MOVE.fullmatch(move)
            assert match, f"{move!r} is not a transfer"
            of, src, op, dst, at = match.groups()
            found.append((int(of or chunk), REDUCE if op == "+" else COPY, int(at or step) + later, int(src), int(dst)))
    return found
