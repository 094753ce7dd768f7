"""Display of objects of the data model: a short `repr`, and a table or a picture in notebooks."""

from collections.abc import Mapping
from contextlib import suppress
from html import escape
from typing import Any, ClassVar

import numpy as np

from certree.models.common.errors import CertreeError, printable
from certree.models.common.extras import provided

__all__ = ["Shown", "printable"]


class Shown:
    """Base of objects displayed by a title and some facts. `shown`: label -> attribute, arrays by their length.

    `picture`: what draws it, and `notebook`: what makes its table, both by the name under which an extra provides it.
    """

    shown: ClassVar[Mapping[str, str]] = {}
    picture: ClassVar[str | None] = None
    notebook: ClassVar[str | None] = None

    def title(self) -> str:
        """The name, or the collective and the network that it is for."""
        this: Any = self
        return str(this.name) if hasattr(this, "name") else f"{this.collective.words} on {this.topology.name}"

    def facts(self) -> dict[str, object]:
        """Facts in order, without those that are None."""
        values = {label: getattr(self, attribute) for label, attribute in self.shown.items()}
        return {
            label: len(value) if isinstance(value, np.ndarray) else value for label, value in values.items() if value is not None
        }

    def __repr__(self) -> str:
        facts = ", ".join(f"{label} {value}" for label, value in self.facts().items())
        return f"<{type(self).__name__} {self.title()}: {facts}>"

    def _repr_html_(self) -> str | None:
        """The table for notebooks, where there is no picture."""
        if self._repr_svg_() is not None:
            return None
        if self.notebook is not None:
            with suppress(CertreeError):
                return str(provided(self.notebook)(self))
        body = "".join(f"<tr><td>{escape(name)}</td><td>{escape(str(fact))}</td></tr>" for name, fact in self.facts().items())
        return f"<table><caption>{escape(f'{type(self).__name__}: {self.title()}')}</caption>{body}</table>"

    def _repr_svg_(self) -> str | None:
        """The picture for notebooks, or None where there is none or it would be too large."""
        if self.picture is None:
            return None
        try:
            drawn: str = provided(self.picture)(self)
        except CertreeError:
            return None
        return drawn
