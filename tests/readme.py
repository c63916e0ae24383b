"""README.md taken apart: its shell commands, Python snippets and links."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

from tests.layout import ROOT

README = ROOT / "README.md"


def blocks(language: str, text: str) -> list[str]:
    """Contents of the fenced blocks of a language."""
    return re.findall(rf"^```{language}\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)


def shell_lines(text: str) -> list[str]:
    lines = (line for block in blocks("bash", text) for line in block.splitlines())
    return [line for line in lines if line and not line.startswith("#")]


def setup_lines(text: str) -> list[str]:
    """The commands for a fresh machine."""
    return [line for line in shell_lines(text) if line.startswith("python3 -m venv")]


def own_commands(text: str) -> list[tuple[str, ...]]:
    """Arguments of each `neural-cost` command, wherever it stands in a line."""
    parts = (part.strip() for line in shell_lines(text) for part in line.split("&&"))
    return [tuple(shlex.split(part)[1:]) for part in parts if part.split()[0].endswith("neural-cost")]


def local_links(text: str) -> list[Path]:
    return [ROOT / target for target in re.findall(r"\]\(([^)#]+)\)", text) if "://" not in target]
