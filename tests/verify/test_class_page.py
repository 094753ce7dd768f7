"""The page of the terms of classes is that of the code."""

from tests.verify.class_page import PAGE, page


def test_page() -> None:
    assert PAGE.read_text() == page(), "run python -m tests.verify.class_page"
