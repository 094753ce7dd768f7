"""Form of the manifest of a bundle."""

from typing import Annotated, Literal, TypedDict

from certree.models.common.fields import FromZero
from certree.models.schemas.form import form
from certree.models.schemas.networks import Digest


class _Present(TypedDict):
    name: str
    members: list[str]


class _Absent(TypedDict):
    name: str
    absent: str


class _Member(TypedDict):
    bytes: FromZero
    sha256: Digest


@form("bundle")
class Bundle(TypedDict):
    """bundle.json, the manifest of a bundle of evidence."""

    kind: Annotated[Literal["schedule", "frontier", "joint-schedule"], "what the bundle is about"]
    made_with: Annotated[dict[str, str], "versions of certree and Python, as stated by who made it"]
    items: Annotated[list[_Present | _Absent], "each kind of evidence, with its members or with the reason why there is none"]
    members: Annotated[dict[str, _Member], "every member but bundle.json itself, in the order of the archive"]
