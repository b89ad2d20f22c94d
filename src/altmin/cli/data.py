"""``altmin data``: which data sets are here, and how to get the others."""

from __future__ import annotations

from rich.box import SIMPLE
from rich.console import Console
from rich.table import Column, Table

from altmin.datasets.real import available


def list_data() -> None:
    """A table of the real data sets that tests and experiments know."""
    table = Table("here", "what it is", Column("where it comes from", overflow="fold"), box=SIMPLE)
    for entry in available():
        table.add_row("[green]yes[/green]" if entry.here else "[dim]no[/dim]", entry.what, entry.how)
    Console().print(table)
