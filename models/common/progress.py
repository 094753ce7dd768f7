"""Progress lines with the share of the work that is done."""


class Counted(str):
    """A progress line with the number of parts that are `done` and their `total`, for progress bars.

    >>> line = Counted("torus:4x4", 3, 48)
    >>> line, line.done, line.total
    ('torus:4x4', 3, 48)
    """

    done: int
    total: int

    def __new__(cls, text: str, done: int, total: int) -> "Counted":
        """The line `text`, and how much is done."""
        line = super().__new__(cls, text)
        line.done, line.total = done, total
        return line
