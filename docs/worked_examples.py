"""The gallery of the site: programs of `examples`, run while mkdocs builds, with what they print and draw."""

import ast
import contextlib
import io
import os
import re
import runpy
import tempfile
from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

EXAMPLES = Path(__file__).parents[1] / "examples"
INDEX = "gallery/index.md"
#: by name of an entry, the address of a picture of it in the folder of the index, if it has one
_PICTURES: dict[str, str] = {}
_ENTRY = re.compile(r"^- \[(.+)\]\(\.\./\.\./examples/(\w+)\.py\)$", re.MULTILINE)


class Ran:
    """A program that has run in a folder of its own: what it printed, and by name the pictures and pages that it wrote."""

    def __init__(self, program: Path) -> None:
        with tempfile.TemporaryDirectory() as scratch, contextlib.chdir(scratch):
            with contextlib.redirect_stdout(io.StringIO()) as said:
                runpy.run_path(os.fspath(program), run_name="__main__")
            found = sorted(path for path in Path().rglob("*") if path.suffix in (".svg", ".html") and path.is_file())
            self.files = {path.name: path.read_text() for path in found}
        self.printed = said.getvalue()


def on_files(files: Files, *, config: MkDocsConfig) -> Files:
    """Add a page for each entry, and its pictures."""
    index = files.get_file_from_path(INDEX)
    assert index is not None
    for title, name in _ENTRY.findall(index.content_string):
        ran = Ran(EXAMPLES / f"{name}.py")
        shown = {f"gallery/{name}/{file}": text for file, text in ran.files.items()}
        assert shown, f"examples/{name}.py draws nothing"
        for path, text in ({f"gallery/{name}.md": entry_page(title, name, ran)} | shown).items():
            files.append(File.generated(config, path, content=text))
        _PICTURES[name] = next((f"{name}/{file}" for file in ran.files if file.endswith(".svg")), "")
    return files


def entry_page(title: str, name: str, ran: Ran) -> str:
    """The Markdown of an entry: picture first, then the program, then what it prints."""
    program = (EXAMPLES / f"{name}.py").read_text()
    about = (ast.get_docstring(ast.parse(program)) or "").strip()
    parts = [f"# {title}\n\n{about}\n"]
    pages = [file for file in ran.files if file.endswith(".html")]
    for file in pages:
        parts.append(f'<iframe src="{name}/{file}" title="{title}"></iframe>\n\n[Open the page alone]({name}/{file})\n')
    pictures = [file for file in ran.files if file not in pages]
    for file in pictures if not pages or len(pictures) == 1 else ():  # a page next to several pictures has them
        parts.append(f"![{title}: {Path(file).stem}]({name}/{file})\n")
    parts.append(f"## The program\n\n`examples/{name}.py`\n\n```python\n{program}```\n")
    if ran.printed:
        parts.append(f"## What it prints\n\n```text\n{ran.printed}```\n")
    return "\n".join(parts)


def on_page_markdown(markdown: str, *, page: Page, **_: object) -> str:
    """The lists of the index as cards with a picture."""
    if page.file.src_uri != INDEX:
        return markdown
    lists = re.compile(rf"(?:{_ENTRY.pattern}\n)+", re.MULTILINE)
    return lists.sub(lambda found: f'<div class="grid cards gallery" markdown>\n\n{_cards(found[0])}\n</div>\n', markdown + "\n")


def _cards(entries: str) -> str:
    """The entries of a list as Markdown, each with its picture."""
    cards = []
    for title, name in _ENTRY.findall(entries):
        picture = f"\n\n    ![]({_PICTURES[name]}){{ loading=lazy }}" if _PICTURES[name] else ""
        cards.append(f"-   [**{title}**]({name}.md){picture}\n")
    return "\n".join(cards)
