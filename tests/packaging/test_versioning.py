"""The page of versions names the extras that are previews."""

import re
from pathlib import Path

from certree.models.common.extras import extras

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "versioning.md"


def test_previews_are_those_of_the_page() -> None:
    listed = re.findall(r"^- `extras/(\w+)`", PAGE.read_text(), re.MULTILINE)
    assert listed == [name for name, extra in extras().items() if extra.is_preview]
