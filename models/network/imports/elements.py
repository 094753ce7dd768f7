"""Safe reading of XML as plain elements: no document types, no entities, bounded size and depth."""

from dataclasses import dataclass, field
from xml.parsers import expat

from certree.models.common.errors import TopologyError

MAX_DEPTH, MAX_ELEMENTS = 64, 1 << 17


@dataclass
class Element:
    """A tag with its attributes, its children and the line it starts in."""

    tag: str
    attributes: dict[str, str]
    line: int
    children: list["Element"] = field(default_factory=list)


def parse_elements(data: bytes, where: str) -> Element:
    """The root element; TopologyError with the line when the document is not well-formed, or has a document type."""
    parser = expat.ParserCreate()
    root = Element("", {}, 0)
    stack, count = [root], 0

    def start(tag: str, attributes: dict[str, str]) -> None:
        nonlocal count
        count += 1
        if count > MAX_ELEMENTS or len(stack) > MAX_DEPTH:
            raise TopologyError(
                f"{where}: line {parser.CurrentLineNumber}: more than {MAX_ELEMENTS} elements, or nested deeper than {MAX_DEPTH}"
            )
        stack.append(Element(tag, attributes, parser.CurrentLineNumber))
        stack[-2].children.append(stack[-1])

    def refuse(*_: object) -> None:
        raise TopologyError(f"{where}: line {parser.CurrentLineNumber}: document types and entities are not read")

    parser.StartElementHandler = start
    parser.EndElementHandler = lambda _tag: stack.pop()
    parser.StartDoctypeDeclHandler = refuse
    try:
        parser.Parse(data, True)
    except (expat.ExpatError, LookupError, ValueError) as error:  # an unknown encoding is a LookupError
        raise TopologyError(f"{where}: not XML: {error}") from None
    return root.children[0]
