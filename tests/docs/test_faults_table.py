"""The table of faults: every promise is linked to a test that exists."""

import re
from pathlib import Path

DOCS = Path(__file__).parents[2] / "docs"
LINK = re.compile(r"\[([^\]]+)\]\((\.\./[^)]+)\)")
ROWS = [line for line in (DOCS / "faults.md").read_text().splitlines() if line.startswith("| ")]


def test_every_row_has_a_test():
    promises = [row for row in ROWS if not row.startswith("| what happens")]
    assert len(promises) > 30
    assert not [row for row in promises if not LINK.search(row)]


def test_every_linked_test_exists():
    for name, target in LINK.findall("\n".join(ROWS)):
        path = (DOCS / target).resolve()
        assert path.is_file(), target
        if name.startswith("test_") and not name.endswith(".py"):
            assert f"def {name}(" in path.read_text(), f"{name} is not in {target}"
