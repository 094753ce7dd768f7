"""Safe reading of XML as plain elements: no document types, no entities, bounded size and depth."""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from xml.parsers import expat

from certree.models.common.errors import InputError

MAX_DEPTH, MAX_ELEMENTS = 64, 1 << 17


@dataclass
class Element:
    """A tag with its attributes, its children, the line it starts in, and the text directly in it."""

    tag: str
    attributes: dict[str, str]
    line: int
    children: list["Element"] = field(default_factory=list)
    text: str = ""


def refuse_document_types(data: bytes, where: str, fault: Callable[[str], InputError] = InputError) -> None:
    """Raise the error that `fault` makes, with the line, for a document with a document type, which is where entities are declared;
    nothing where it is not well-formed, which its parser reports."""
    parser = expat.ParserCreate()
    parser.StartDoctypeDeclHandler = _refusing(parser, where, fault)
    with suppress(expat.ExpatError, LookupError, ValueError):
        parser.Parse(data, True)


def _refusing(parser: expat.XMLParserType, where: str, fault: Callable[[str], InputError]) -> Callable[..., None]:
    def refuse(*_: object) -> None:
        raise fault(f"{where}: line {parser.CurrentLineNumber}: document types and entities are not read")

    return refuse


def parse_elements(data: bytes, where: str, fault: Callable[[str], InputError] = InputError) -> Element:
    """The root element; `fault` makes the error, with the line, for a document that is not well-formed, has a document type, or
    is too large or too deep."""
    parser = expat.ParserCreate()
    root = Element("", {}, 0)
    stack, count = [root], 0

    def start(tag: str, attributes: dict[str, str]) -> None:
        nonlocal count
        count += 1
        if count > MAX_ELEMENTS or len(stack) > MAX_DEPTH:
            raise fault(
                f"{where}: line {parser.CurrentLineNumber}: more than {MAX_ELEMENTS} elements, or nested deeper than {MAX_DEPTH}"
            )
        stack.append(Element(tag, attributes, parser.CurrentLineNumber))
        stack[-2].children.append(stack[-1])

    def add_text(text: str) -> None:
        if not text.isspace():
            stack[-1].text += text

    parser.buffer_text = True
    parser.StartElementHandler = start
    parser.CharacterDataHandler = add_text
    parser.EndElementHandler = lambda _tag: stack.pop()
    parser.StartDoctypeDeclHandler = _refusing(parser, where, fault)
    try:
        parser.Parse(data, True)
    except (expat.ExpatError, LookupError, ValueError) as error:  # an unknown encoding is a LookupError
        raise fault(f"{where}: not XML: {error}") from None
    return root.children[0]
