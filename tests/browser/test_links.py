"""Every way out of every page: inside the book it leads somewhere, outside it is listed."""

import hashlib
import json
import re
from collections import Counter
from urllib.parse import unquote, urlparse

import pytest

from press import HOME, ledger
from press.html import assets

pytestmark = pytest.mark.browser

URL = re.compile(r"url\(\s*['\"]?([^'\")]+)")
DIGEST = re.compile(r"<li><code>([^<]+)</code> <code>([0-9a-f]{64})</code></li>")


def broken(site, html, folder, address, page=None):
    """Why an address that a file in `folder` names leads nowhere; None if it leads somewhere."""
    target = urlparse(address)
    if target.scheme or target.netloc:
        return None
    file = (html if target.path.startswith("/") else folder) / unquote(target.path).lstrip("/")
    if target.path and not file.is_file():
        return f"{address}: no such file"
    name = file.resolve().relative_to(html.resolve()).as_posix() if target.path else page
    if target.fragment and name in site and unquote(target.fragment) not in site[name].ids:
        return f"{address}: no such anchor"
    return None


def test_every_address_of_a_page_leads_somewhere(site, html):
    assert len(site) > 100
    wrong = [
        (name, why)
        for name, page in site.items()
        for address in page.addresses
        if (why := broken(site, html, page.file.parent, address, name))
    ]
    assert not wrong


def test_every_page_is_sealed(site):
    """The policy comes before all that it binds; what breaks it is an error on the console of the page."""
    first = '<meta http-equiv="Content-Security-Policy" content="default-src '
    heads = {name: page.file.read_text("utf8").partition("<head>")[2] for name, page in site.items()}
    assert not [name for name, head in heads.items() if not head.lstrip().startswith(first)]


def test_a_broken_address_would_be_noticed(site, html):
    folder = html / "book"
    assert broken(site, html, folder, "intro.html") is None
    assert broken(site, html, folder, "no-page.html") == "no-page.html: no such file"
    assert broken(site, html, folder, "intro.html#nowhere") == "intro.html#nowhere: no such anchor"
    assert broken(site, html, folder, "#nowhere", "book/intro.html")
    assert broken(site, html, folder, "../_static/none.png")


def test_every_address_of_a_stylesheet_leads_somewhere(site, html):
    named = [
        (file, address) for file in html.rglob("*.css") for address in URL.findall(file.read_text("utf8"))
    ]
    named = [pair for pair in named if "vendor/fontawesome" not in pair[1]]  # icons that no page asks for
    wrong = [(file.name, broken(site, html, file.parent, address)) for file, address in named]
    assert named and not [pair for pair in wrong if pair[1]]


def test_everything_that_search_finds_is_there(site, html):
    index = (html / "_static" / "finder-index.js").read_text("utf8")
    entries = json.loads(index[index.index("{") : index.rindex("}") + 1])["entries"]
    places = {f"{e['p']}#{e['a']}" if e["a"] else e["p"] for e in entries}
    assert len(places) > 100 and not [why for place in places if (why := broken(site, html, html, place))]


def test_every_done_item_has_one_anchor(site):
    anchors = Counter(identifier for page in site.values() for identifier in page.ids)
    done = [e for e in ledger.entries(ledger.load()) if ledger.done(e)]
    assert {e["id"]: anchors[ledger.anchor(e["id"])] for e in done} == {e["id"]: 1 for e in done}


def test_every_exercise_that_is_counted_is_there(site, html):
    counted = json.loads((html / "_static" / "live" / "exercises.json").read_text("utf8"))
    for page, names in counted.items():
        assert set(names) <= set(site[f"{page}.html"].ids)


# ---------------------------------------------------------------- the page of what is shipped


def test_every_link_that_leaves_the_book_is_listed(site, html):
    leaving = {a for page in site.values() for a in page.anchors if urlparse(a).netloc}
    listed = (html / assets.PAGE).read_text("utf8").partition('id="links-that-leave-the-book"')[2]
    links = {assets.unescape(a) for a in assets.LINK.findall(assets.SLOT.search(listed)[0])}
    assert leaving == links and len(links) > 10
    assert not [a for a in links if urlparse(a).scheme not in ("https", "http")]


def test_every_file_is_listed_with_its_checksum(html):
    listed = dict(DIGEST.findall((html / assets.PAGE).read_text("utf8")))
    assert set(listed) == set(assets.shipped(html))
    for path, digest in listed.items():
        assert hashlib.sha256((html / path).read_bytes()).hexdigest() == digest, path


def test_every_file_has_a_name_a_version_and_a_licence(html):
    for entry, files in assets.groups(html):
        assert entry["licence"] and assets.version_of(entry), f"name these in book/assets.yml: {files}"


def test_written_versions_are_those_of_the_files(html):
    """What says its own version must say the one in the list."""
    entries = {entry["name"].partition(",")[0]: entry for entry in assets.load()}
    static = html / "_static"
    says = {
        "MathJax": (static / "mathjax" / "tex-chtml-full.js", 'VERSION="{}"'),
        "clipboard.js": (static / "clipboard.min.js", "clipboard.js v{}"),
        "Bootstrap": (static / "scripts" / "bootstrap.js.LICENSE.txt", "Bootstrap v{}"),
        "Font Awesome Free": (static / "scripts" / "fontawesome.js.LICENSE.txt", "Font Awesome Free {}"),
        "NumPy": (HOME / "js" / "runtime.py", "numpy-{}-"),
        "Python's standard library": (HOME / "js" / "live" / "worker.js", 'python: "{}"'),
        "Pyodide": (HOME / "js" / "live" / "worker.js", 'version: "{}"'),
    }
    for name, (file, words) in says.items():
        assert words.format(assets.version_of(entries[name])) in file.read_text("utf8"), name
