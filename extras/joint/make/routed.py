"""Routes of joint schedules whose messages meet in routers: layers of virtual channels for all of them."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from certree.extras.joint.check.joint_checks import JointVerdict
from certree.extras.joint.check.shared_routers import check_routers, joint_freedom
from certree.extras.joint.model.joint_schedule import JointSchedule
from certree.models.common.errors import CertreeError, UnsupportedError
from certree.verify.deadlock.layers import layers_of
from certree.verify.verdict import Findings

Int32 = NDArray[np.int32]
_OF_ROUTERS = {"channel", "deadlock", "late"}  # rules


def with_joint_channels(joint: JointSchedule) -> JointSchedule:
    """The joint schedule, with the routes of all collectives in layers of virtual channels where these may wait for each other in a
    circle; as it is where they do not, and where the machine has fewer channels than layers. O(hops of all messages, log), and the
    layers."""
    if _is_free(joint):
        return joint
    pairs = joint.topology.pair_of_link
    routes = [pairs[list(route)].tolist() for part in joint.parts for route in part.schedule.routes]
    layers = np.array(layers_of(routes), np.int32)
    ends = np.cumsum([len(part.schedule.routes) for part in joint.parts])[:-1]
    layers = _stated(layers, np.split(layers, ends))
    if layers.max(initial=0) >= joint.machine.vc_count:
        return joint
    return replace(
        joint,
        parts=tuple(
            replace(part, schedule=replace(part.schedule, virtual_channel=own, certificate=None))
            for part, own in zip(joint.parts, np.split(layers, ends), strict=True)
        ),
    )


def _stated(layers: Int32, parts: Sequence[Int32]) -> Int32:
    """The layers, numbered so that no collective has all of its routes in layer 0, as those without layers have: they are in halves
    of the virtual channels by datelines, next to the layers of others. One layer more where each has all routes of a collective."""
    whole = {int(own[0]) for own in parts if len(own) and (own == own[0]).all()}
    free = next((layer for layer in range(int(layers.max(initial=0)) + 1) if layer not in whole), None)
    if free is None:
        return layers + np.int32(1)
    return np.where(layers == 0, free, np.where(layers == free, 0, layers)).astype(np.int32)


def is_right(joint: JointSchedule) -> bool:
    """Whether routers do not spoil what is right on links (rules `channel`, `deadlock` and `late`)."""
    findings = Findings()
    check_routers(joint, findings)
    return not findings.rules


def require_right(verdict: JointVerdict) -> None:
    """Raise UnsupportedError for a new joint schedule that routers may spoil, CertreeError for any other that is invalid."""
    if verdict.valid:
        return
    first = verdict.violations[0]
    if _OF_ROUTERS.issuperset(verdict.counts):
        raise UnsupportedError(f"machine {verdict.joint.machine.name}: {first.rule}: {first.message}")
    raise CertreeError(f"the joint schedule is invalid, which is an error of certree: {first.message}")


def _is_free(joint: JointSchedule) -> bool:
    try:
        return joint_freedom(joint).free
    except UnsupportedError:  # more layers than virtual channels
        return False
