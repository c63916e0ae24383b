"""Record: what every public object of a report can do."""

from __future__ import annotations

from typing import Any


class Record:
    """Plain data by `to_dict`, lines by `str`, and those lines for a notebook."""

    __slots__ = ()

    def to_dict(self) -> dict[str, Any]:
        """Plain data: what JSON can hold."""
        raise NotImplementedError

    def __str__(self) -> str:
        """One line for each field that holds something, by its name in Python."""
        return "\n".join(
            f"{name}: {_text(value)}" for name, value in self._shown().items() if value not in ([], {}, "")
        )

    def _shown(self) -> dict[str, Any]:
        """What `str` shows: attributes by their names."""
        return self.to_dict()

    def _repr_html_(self) -> str:
        """The lines for a notebook."""
        from html import escape

        return f"<pre>{escape(str(self))}</pre>"


def _text(value: Any) -> str:
    if value is None:
        return "unknown"
    if isinstance(value, dict):
        return ", ".join(f"{name} {_text(each)}" for name, each in value.items())
    if isinstance(value, list | tuple):
        return ", ".join(map(_text, value))
    return f"{value:,}" if isinstance(value, int) and not isinstance(value, bool) else str(value)
