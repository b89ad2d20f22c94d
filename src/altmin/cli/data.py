"""``altmin data``: which data sets are here, and how to get the others."""

from __future__ import annotations

from rich.console import Console
from rich.table import Table

from altmin.datasets.real import available


def list_data() -> None:
    """A table of the real data sets that tests and experiments know."""
    table = Table("data set", "here", "what", "how to get it")
    for entry in available():
        table.add_row(entry.name, "[green]yes[/green]" if entry.here else "no", entry.what, entry.how)
    Console().print(table)
