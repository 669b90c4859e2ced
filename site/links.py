"""Checks every relative link of a built site: `python site/links.py FOLDER`. Links to other hosts are not fetched."""

import sys
import urllib.parse
from html.parser import HTMLParser
from pathlib import Path


class Page(HTMLParser):
    """The names that links can end in, and the addresses that the page has, each with its line."""

    def __init__(self, text):
        super().__init__()
        self.names, self.addresses = {"", "top"}, []
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        attributes = {name: value or "" for name, value in attributes}
        self.names |= {attributes[name] for name in ("id", "name") if name in attributes}
        self.addresses += [(self.getpos()[0], attributes[name]) for name in ("href", "src") if name in attributes]


def main(folder):
    pages = {path: Page(path.read_text("utf-8")) for path in sorted(folder.rglob("*.html"))}
    checked, dead = 0, []
    for path, page in pages.items():
        for line, address in page.addresses:
            parts = urllib.parse.urlsplit(address)
            if parts.scheme or parts.netloc:
                continue
            checked += 1
            target = (path.parent / urllib.parse.unquote(parts.path)).resolve() if parts.path else path
            inside = target.is_relative_to(folder) and not parts.path.startswith("/")
            if not inside or not target.is_file():
                dead.append(f"{path}:{line}: {address}: no such file")
            elif target in pages and urllib.parse.unquote(parts.fragment) not in pages[target].names:
                dead.append(f"{path}:{line}: {address}: no such place in the page")
    print(f"{len(pages)} pages, {checked} links, {len(dead)} of them dead")
    print("\n".join(dead), end="\n" if dead else "")
    return 1 if dead or not pages else 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]).resolve()))
