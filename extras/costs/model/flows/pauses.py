"""Time that flows of a step lose to pauses of links (priority flow control), frame by frame.

A frame that arrives at a node and goes on waits there, in no order but that of the link it goes on over. Once as many frames of a
link wait as `off` says, the node pauses the link: it carries nothing, for whatever flow, until no more than `on` of its frames
wait. The link learns of both `late` frame times later. A link that is free takes one frame of each flow that waits for it in turn.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import gcd, lcm

import numpy as np

from certree.extras.costs.model.flows.flows import Int64
from certree.extras.costs.model.formulas.genmodel import FLOAT_BYTES
from certree.models.common.errors import InputError, UnsupportedError
from certree.models.common.quantities import parse_size

FORM = "OFF/ON/LATE/FRAME"
MOST_WORK = 10**10  # of the steps of a run: about a minute
_FIXED_WORK = 10**4  # of a frame time, next to its hops, which take as long as this many of them
MOST_LATE = 4096
MOST_UNITS = 10**6  # of a frame on the slowest link; the unit divides those of all links
_NEVER = 1 << 62
_ZERO = re.compile(r"0+(\.0+)?\s*([KMG]?B|[KMG]iB)?", re.ASCII | re.IGNORECASE)


@dataclass(frozen=True)
class Pauses:
    """Frames of a link that wait at a node when it pauses the link (`off`) and when it lets it go on (`on`), the frame times that
    this takes (`late`), and the bytes of a frame (`frame`)."""

    off: int
    on: int
    late: int
    frame: int

    def __str__(self) -> str:
        return "/".join(f"{frames * self.frame}B" for frames in (self.off, self.on, self.late, 1))


def parse_pauses(text: str) -> Pauses:
    """Pauses from OFF/ON/LATE/FRAME, four sizes, the first three whole multiples of the last one; ON and LATE may be 0, `0B` or the
    like. InputError names the field and says what is wrong with it.

    >>> parse_pauses("36KiB/16KiB/0/4KiB")
    Pauses(off=9, on=4, late=0, frame=4096)
    """
    sizes = str(text).split("/")
    if len(sizes) != 4:
        raise InputError(f"pauses={text!r}; expected {FORM}, such as 36KiB/16KiB/4KiB/4KiB")
    off, on, late, frame = (_size(text, name, size) for name, size in zip(FORM.split("/"), sizes, strict=True))
    if frame < 4:
        raise InputError(f"pauses={text!r}: FRAME is {frame} bytes; allowed: 4 or more")
    for name, size in (("OFF", off), ("ON", on), ("LATE", late)):
        if size % frame:
            raise InputError(f"pauses={text!r}: {name} is {size} bytes; allowed: multiples of FRAME, {frame} bytes")
    if on >= off:
        raise InputError(f"pauses={text!r}: ON is {on} bytes; allowed: less than OFF, {off} bytes")
    if late > MOST_LATE * frame:
        raise InputError(f"pauses={text!r}: LATE is {late // frame} frames; allowed: at most {MOST_LATE}")
    return Pauses(off // frame, on // frame, late // frame, frame)


def _size(text: str, name: str, size: str) -> int:
    """The number of bytes of a field, 0 included."""
    if _ZERO.fullmatch(size.strip()):
        return 0
    try:
        return parse_size(size)
    except InputError as error:
        raise InputError(f"pauses={text!r}: {name}: {error}") from None


@dataclass
class Work:
    """The work that is left for the steps of a run (`left`): frame times, each of which counts its hops and `_FIXED_WORK`."""

    left: int = MOST_WORK

    def frame_times(self, hops: int) -> int:
        """The number of frame times that are left for a step with this many hops."""
        return self.left // (hops + _FIXED_WORK)

    def refuse_more(self, least: int, hops: int) -> None:
        """Raise UnsupportedError where a step with this many hops has at least `least` frame times and fewer are left."""
        if least > self.frame_times(hops):
            raise UnsupportedError(
                f"pauses: a step of {hops:,} hops has at least {least:,} frame times; allowed: {self.frame_times(hops):,}, "
                "about a minute for all steps; give larger frames"
            )


@dataclass(frozen=True)
class Lost:
    """Seconds that a step takes longer because of pauses, and how many pauses there are."""

    seconds: Fraction
    pauses: int


NOTHING_LOST = Lost(Fraction(0), 0)


def time_lost(
    floats: Sequence[Fraction],
    kind: Int64,
    hop_flow: Int64,
    hop_link: Int64,
    seconds: Sequence[Fraction],
    pauses: Pauses,
    work: Work,
) -> Lost:
    """The time that pauses add to a step: its frame times with them less those without, at least 0.

    `kind`: of each flow the number of its length in `floats`, which is rounded up to whole frames; `hop_flow`, `hop_link`:
    the links of each flow, flows ascending, routes in order, each link with a flow; `seconds`: of a float over each link. What is
    done is taken from `work`. UnsupportedError where not enough is left, or where paused links wait for each other for ever.
    O(frame times · hops) time, of both runs.
    """
    least = min(seconds)
    scale = lcm(*(one.denominator for one in seconds))
    whole = [int(one * scale) for one in seconds]
    unit = gcd(*whole)
    if max(whole) // unit > MOST_UNITS:
        raise UnsupportedError(
            f"pauses: a frame takes {max(whole) // unit:,} units of time on the slowest link; allowed: {MOST_UNITS:,}"
        )
    cost = np.array([one // unit for one in whole], np.int64)
    length = Fraction(pauses.frame, FLOAT_BYTES)
    whole_frames = [-(-one // length) for one in floats]
    work.refuse_more(max(whole_frames), len(hop_flow))  # so that loads of links fit 64 bits
    run = _Frames(np.array(whole_frames, np.int64)[kind], hop_flow, hop_link, cost, work)
    with_pauses, count = run.times(pauses)
    if not count:
        return NOTHING_LOST
    without, _ = run.times(None)
    return Lost(max(with_pauses - without, 0) * length * least, count)


class _Frames:
    """Frames of flows on links of whole numbers of time units each; one frame time is that of the fastest link."""

    def __init__(self, frames: Int64, hop_flow: Int64, hop_link: Int64, cost: Int64, work: Work) -> None:
        self._frames, self._cost, self._work, hops = frames, cost, work, len(hop_flow)
        order = np.lexsort([np.arange(hops), hop_link])
        place = np.empty(hops, np.int64)
        place[order] = np.arange(hops)
        same = hop_flow[1:] == hop_flow[:-1]
        following, link_before = np.full(hops, -1, np.int64), np.full(hops, -1, np.int64)
        following[:-1][same] = place[1:][same]
        link_before[1:][same] = hop_link[:-1][same]
        # by link from here on
        self._next, self._from, self._link = following[order], link_before[order], hop_link[order]
        self._first = np.searchsorted(self._link, np.arange(len(cost)))
        self._at_source = np.where(self._from < 0, frames[hop_flow[order]], 0)
        self._frame_time = int(cost.min())
        load = np.zeros(len(cost), np.int64)
        np.add.at(load, hop_link, frames[hop_flow])
        least = max(count * one for count, one in zip(load.tolist(), cost.tolist(), strict=True)) // self._frame_time
        work.refuse_more(least, hops)

    def times(self, pauses: Pauses | None) -> tuple[int, int]:
        """Frame times until the last frame has arrived, and the number of pauses."""
        links, hops = len(self._cost), len(self._link)
        waiting, held = self._at_source.copy(), np.zeros(links, np.int64)
        turn = np.arange(hops)  # the flow that was served longest ago has the least
        credit, full = self._cost - self._frame_time, self._cost + self._frame_time - 1
        paused = np.zeros(links, np.bool_)
        late = 0 if pauses is None else pauses.late
        known = np.zeros((late + 1, links), np.bool_)
        patience = late + 2 + int(self._cost.max()) // self._frame_time
        left, now, count, idle = int(self._frames.sum()), 0, 0, 0
        most = self._work.frame_times(hops)
        while left:
            if now == most:
                raise UnsupportedError(
                    f"pauses: after {now:,} frame times of a step of {hops:,} hops, about a minute for all steps, frames have "
                    f"not arrived ({left:,}); give larger frames or shorter pauses"
                )
            credit = np.minimum(credit + self._frame_time, full)
            able = (credit >= self._cost) & ~known[now % (late + 1)]
            best = np.minimum.reduceat(np.where((waiting > 0) & able[self._link], turn, _NEVER), self._first)
            sent = best[best < _NEVER] % hops
            idle = 0 if len(sent) else idle + 1
            if idle > patience:
                raise UnsupportedError(
                    f"pauses: {left:,} frames wait for each other for ever; {int(paused.sum())} links are paused"
                )
            credit[self._link[sent]] -= self._cost[self._link[sent]]
            waiting[sent] -= 1
            turn[sent] = (now + 1) * hops + sent
            on = self._next[sent]
            going, there = on >= 0, self._from[sent]
            waiting[on[going]] += 1
            held[self._link[sent[going]]] += 1
            left -= int((~going).sum())
            np.subtract.at(held, there[there >= 0], 1)
            if pauses is not None:
                after = np.where(paused, held > pauses.on, held >= pauses.off)
                count += int((after & ~paused).sum())
                paused = after
                known[now % (late + 1)] = paused
            now += 1
        self._work.left -= now * (hops + _FIXED_WORK)
        return now, count
