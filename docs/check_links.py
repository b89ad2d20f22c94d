"""Whether every link inside the built pages leads somewhere: ``python docs/check_links.py docs/_build/html``.

Links to other hosts aren't followed: this needs no network.
"""

from __future__ import annotations

import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit


class _Page(HTMLParser):
    """Anchors that a page has, and targets that it names."""

    def __init__(self) -> None:
        super().__init__()
        self.anchors: set[str] = set()
        self.targets: set[str] = set()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Collect ids, names, href, src and srcset."""
        named = {key: value for key, value in attrs if value}
        self.anchors.update(named[key] for key in ("id", "name") if key in named)
        if tag in ("a", "link", "img", "script", "source"):
            self.targets.update(named[key] for key in ("href", "src") if key in named)
            self.targets.update(
                part.split()[0] for part in named.get("srcset", "").split(",") if part.strip()
            )


def _files(root: Path) -> list[Path]:
    """Built pages; what the theme ships in _static are templates, no pages."""
    return [path for path in sorted(root.rglob("*.html")) if "_static" not in path.parts]


def broken_links(root: Path) -> list[str]:
    """Links of the pages under ``root`` that lead to no file or no anchor.

    Parameters
    ----------
    root : Path
        Folder of the built pages.

    Returns
    -------
    list of str
        One line a broken link: page, target, what is missing.
    """
    pages: dict[Path, _Page] = {}
    for path in _files(root):
        page = pages[path.resolve()] = _Page()
        page.feed(path.read_text(encoding="utf-8"))
    broken = []
    for path, page in pages.items():
        for target in sorted(page.targets):
            parts = urlsplit(target)
            if parts.scheme or parts.netloc:
                continue
            file = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            where = f"{path.relative_to(root.resolve())}: {target}"
            if file.is_dir():
                file = file / "index.html"
            if not file.exists():
                broken.append(f"{where} (no such file)")
            elif parts.fragment and file in pages and unquote(parts.fragment) not in pages[file].anchors:
                broken.append(f"{where} (no such anchor)")
    return broken


def other_hosts(root: Path) -> list[str]:
    """Scripts, styles and images that pages would fetch from elsewhere: there should be none.

    Parameters
    ----------
    root : Path
        Folder of the built pages.

    Returns
    -------
    list of str
        One line a page and address.
    """
    found = []
    for path in _files(root):
        loader = _Loads()
        loader.feed(path.read_text(encoding="utf-8"))
        found += [f"{path.relative_to(root)}: {address}" for address in sorted(loader.addresses)]
    return found


class _Loads(HTMLParser):
    """Addresses on other hosts that a page loads by itself."""

    def __init__(self) -> None:
        super().__init__()
        self.addresses: set[str] = set()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Collect src of scripts and images, href of style sheets."""
        named = {key: value for key, value in attrs if value}
        loads = {"script": "src", "img": "src", "link": "href"}.get(tag)
        if tag == "link" and named.get("rel") not in ("stylesheet", "preload", "icon"):
            return
        address = named.get(loads or "", "")
        if urlsplit(address).netloc:
            self.addresses.add(address)


if __name__ == "__main__":
    folder = Path(sys.argv[1])
    problems = broken_links(folder) + [f"{line} (from another host)" for line in other_hosts(folder)]
    n_pages = len(_files(folder))
    sys.stdout.write("\n".join([*problems, f"{n_pages} pages, {len(problems)} broken link(s)"]) + "\n")
    sys.exit(1 if problems else 0)
