"""The printed book: pages, bookmarks, links, numbers in the contents, and nothing cut."""

import re
import subprocess
import sys

import pytest
from pypdf import PdfReader

from press import ledger
from press.print import built, chromium, pdf

pytestmark = pytest.mark.browser
FEW = ["book/lecture-04-online-svm/hypotheses", "book/limits/every-step", "book/bibliography"]
ALL = [name for _, names in built.contents() for name in names]


class Printed:
    """A PDF and what is in it."""

    def __init__(self, file, names):
        self.names, self.reader = names, PdfReader(file)
        self.places = pdf.places(file)
        self.texts = [re.sub(r"\s+", " ", page.extract_text()) for page in self.reader.pages]
        self.titles = {name: built.Page(name).title for name in names}

    def bookmarks(self, entries=None, depth=0):
        """(depth, title, page) of each."""
        for entry in self.reader.outline if entries is None else entries:
            if isinstance(entry, list):
                yield from self.bookmarks(entry, depth + 1)
            else:
                yield depth, plain(entry.title), self.reader.get_destination_page_number(entry) + 1

    def links(self):
        """Where each link inside the file leads."""
        for page in self.reader.pages:
            for note in page.get("/Annots", []):
                note = note.get_object()
                if note.get("/Subtype") == "/Link" and "/Dest" in note:
                    yield note["/Dest"]


def plain(text):
    return re.sub(r"\s+", " ", text).strip()


def packed(text):
    """Without spaces: between glyphs of two fonts, as in ℓ1, the reader of the file may see one."""
    return re.sub(r"\s+", "", text)


def made(folder, names):
    file = folder / "book.pdf"
    command = [sys.executable, "-m", "press", "pdf", "--to", file, *names]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr  # as it is when something is too wide
    return Printed(file, names or ALL)


@pytest.fixture(scope="module")
def few(html, browser, tmp_path_factory):
    return made(tmp_path_factory.mktemp("pdf"), FEW)


@pytest.fixture(scope="module")
def whole(html, browser, tmp_path_factory):
    return made(tmp_path_factory.mktemp("pdf"), [])


@pytest.fixture(scope="module", params=["few", pytest.param("whole", marks=pytest.mark.long)])
def printed(request):
    return request.getfixturevalue(request.param)


def test_it_has_as_many_pages_as_it_needs(printed):
    assert 2 * len(printed.names) < len(printed.texts) < 30 * len(printed.names)
    assert all(len(text) > 20 for text in printed.texts), "an empty page"


def test_every_page_of_the_book_is_a_bookmark_at_its_place(printed):
    marks = {title: place for depth, title, place in printed.bookmarks() if depth <= 1}
    for name, title in printed.titles.items():
        assert marks[plain(title)] == printed.places[f"page-{built.slug(name)}"], title


def test_sections_are_bookmarks_below_their_page(printed):
    assert any(depth == 2 for depth, _, _ in printed.bookmarks())


def test_the_contents_say_on_which_page_it_is(printed):
    first = min(printed.places[f"page-{built.slug(name)}"] for name in printed.names)
    contents = packed("".join(printed.texts[1 : first - 1]))
    for name, title in printed.titles.items():
        number = printed.places[f"page-{built.slug(name)}"]
        assert packed(f"{title}{number}") in contents
        assert re.search(rf"\b{number}\b", printed.texts[number - 1][:200] + printed.texts[number - 1][-200:])


def test_every_sheet_has_the_title_of_its_page_on_top(printed):
    starts = sorted((printed.places[f"page-{built.slug(name)}"], name) for name in printed.names)
    for place, name in starts:
        assert packed(printed.titles[name]) in packed(printed.texts[place - 1])
    last, name = starts[-1]
    for text in printed.texts[last - 1 :]:
        assert packed(printed.titles[name]) in packed(text)


def test_links_inside_the_file_lead_somewhere(printed):
    links = list(printed.links())
    assert links
    assert {str(link).lstrip("/") for link in links if isinstance(link, str)} <= set(printed.places)
    assert all(isinstance(link, str) or link[0].get_object()["/Type"] == "/Page" for link in links)


def test_every_question_has_its_text(printed):
    """The longest words of each that no formula interrupts, also where it asks for a number."""
    text, found = packed(" ".join(printed.texts)), set()
    for name in printed.names:
        for box in built.Page(name).article.select(".quick .asked"):
            words = max((packed(str(part)) for part in box.find_all(string=True)), key=len, default="")
            found |= {*box.parent.get("class", [])}
            assert words in text, (name, words)
    assert "number" in found


def test_no_address_of_this_machine_is_in_it(printed):
    for page in printed.reader.pages:
        for note in page.get("/Annots", []):
            uri = note.get_object().get("/A", {}).get("/URI", "")
            assert not uri.startswith("file:"), uri


@pytest.mark.long
def test_every_item_of_the_lectures_has_a_destination(whole):
    items = [entry for part in ledger.load().values() for entry in part["items"] if ledger.done(entry)]
    missing = {ledger.anchor(entry["id"]) for entry in items} - set(whole.places)
    assert not missing
    for number in (1, 2):  # the lecture stands at the right end of the line: the file may have it first
        text = whole.texts[whole.places[f"ox13-thm{number}"] - 1]
        assert re.search(rf"Theorem {number} ?Lecture 13|Lecture 13 ?Theorem {number}", text)
    text = " ".join(whole.texts)
    assert "Worked solution" in text and "Follow the leader" in text


def test_what_is_too_wide_is_found(desktop):
    desktop.set_content("<body style='margin:0;width:300px'><pre>short</pre>")
    assert not chromium.too_wide(desktop)
    desktop.set_content(f"<body style='margin:0;width:300px'><pre style='overflow:auto'>{'long ' * 99}</pre>")
    assert chromium.too_wide(desktop)
    desktop.set_content("<body style='margin:0;width:300px'><div style='width:400px'>wide</div>")
    assert chromium.too_wide(desktop)


def test_a_link_that_leads_nowhere_stops_the_print(html, tmp_path):
    page = built.Page(FEW[0])
    page.article.append(built.BeautifulSoup('<a href="#nowhere">x</a>', "html.parser"))
    with pytest.raises(pdf.Broken, match="nowhere"):
        pdf.join([page], "..")
