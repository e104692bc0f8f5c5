"""The built book as files: its pages, what each holds and where it leads."""

import os
import re
from html.parser import HTMLParser
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
HTML = Path(os.environ.get("BOOK_HTML", ROOT / "_build" / "html"))
FILES = sorted(path.relative_to(HTML) for path in HTML.rglob("*.html"))
#: run in a page before all else: it keeps what the page's policy refuses
VIOLATIONS = """
  window.violations = [];
  addEventListener('securitypolicyviolation', event => window.violations.push(
    [event.effectiveDirective, event.sourceFile, event.blockedURI].join(' ')));
"""
#: in a page: wait for the letters and two frames, in which figures take a new size
FRAMES = """async () => {
  await document.fonts.ready;
  for (let frames = 0; frames < 2; frames++) await new Promise(requestAnimationFrame);
}"""
FIELDS = ("href", "src", "data", "poster", "action", "xlink:href")


class Page(HTMLParser):
    """The ids of one page, and every address it names: links, downloads, pictures, scripts, styles."""

    def __init__(self, file):
        super().__init__()
        self.file, self.ids, self.addresses, self.anchors = file, [], [], []
        self.feed(file.read_text("utf8"))

    def handle_starttag(self, tag, attributes):
        attributes = dict(attributes)
        if tag == "base":  # of the page for dead links: the root of the site, where it lies itself
            return
        self.ids += [attributes["id"]] if "id" in attributes else []
        self.addresses += [attributes[name] for name in FIELDS if attributes.get(name)]
        if attributes.get("srcset"):
            self.addresses += [part.split()[0] for part in attributes["srcset"].split(",")]
        if tag == "a" and attributes.get("href"):
            self.anchors.append(attributes["href"])
        if (attributes.get("http-equiv") or "").lower() == "refresh":
            self.addresses += re.findall(r"url=(.+)$", attributes["content"])
