"""Print the whole book to one file, _build/pdf/online-convex-optimisation.pdf.

python -m press pdf [--edition student] [--to FILE] [page or chapter ...]    after make book

A chapter is a folder of pages, such as lecture-13-oco.

We join the finished pages to one document ourselves, because Sphinx's single-page builder gives the
"Exercises" of every page the same address; here an id that occurs twice is prefixed with its page. Chromium
prints the document at least twice: the page numbers in the contents come from the print before.
"""

import argparse
import json
from html import escape
from pathlib import Path

from bs4 import BeautifulSoup
from pypdf import PdfReader, PdfWriter

from press.print import built, chromium

NAME = "online-convex-optimisation"
STYLE = Path(__file__).with_name("book.css")
KEPT = 14  # code with at most this many lines is not split between sheets
NUMBER = '<span class="number" data-of="{name}">000</span>'
TRIES = 4
FILL = """pages => document.querySelectorAll('.number[data-of]').forEach(place => {
  place.textContent = pages[place.dataset.of] ?? '';
})"""


class Broken(Exception):
    """A link leads to a place that does not exist."""


def parts_of(chosen, html):
    """Return [(caption, pages)] of all pages, or of those chosen."""
    parts = [
        (part, [built.Page(name, html) for name in names if not chosen or wanted(name, chosen)])
        for part, names in built.contents()
    ]
    return [(part, found) for part, found in parts if found]


def wanted(name, chosen):
    """Return whether this page or its chapter is among those chosen."""
    return bool(
        {name, name.removeprefix("book/"), name.removeprefix("book/").partition("/")[0]} & set(chosen)
    )


def document(parts, html, folder):
    """Return the parts as one HTML document, to be stored in `folder`."""
    pages = [page for _, found in parts for page in found]
    up = built.relative(folder, html)
    join(pages, up)
    links = "".join(f'<link rel="stylesheet" href="{up}/{sheet}">\n' for sheet in built.sheets(pages))
    body = [title_page(up), contents(parts)]
    for part, found in parts:
        if part:
            body.append(opening(part, found))
            for page in found:
                lower(page)
        body += [chapter(page) for page in found]
    config = built.config.settings()
    style = built.letters(html) + "\n" + STYLE.read_text("utf8") + heads(parts)
    return (
        '<!DOCTYPE html>\n<html lang="en" data-theme="light" data-mode="light" data-from="file">\n<head>\n'
        f'<meta charset="utf-8">\n<title>{escape(config["title"])}</title>\n'
        f'<meta name="author" content="{escape(config["author"])}">\n{links}'
        f"<style>\n{style}</style>\n</head>\n<body>\n{''.join(body)}</body>\n</html>\n"
    )


def join(pages, up):
    """Prepare the pages for one document: unique ids, internal links, most folds open."""
    names = built.names(pages)
    tops = {page.name: top(page) for page in pages}
    for page in pages:
        answers_last(page)
        for element in page.article.select("[id]"):
            element["id"] = names[page.name, element["id"]]
        for link in page.article.select("[href]"):
            relink(page, link, names, tops)
        for picture in page.article.select("img"):
            picture["src"] = f"{up}/{picture['src']}"
        for fold in page.article.select("details:not(.concordance-tests)"):
            fold["open"] = ""
        for code in page.article.select("pre"):
            if code.get_text().count("\n") > KEPT:
                code["class"] = "long"
        for figure in page.article.select("moving-figure"):
            del figure["data-numbers"]
        for formula in page.article.select("mjx-container"):
            name_formula(formula)


def answers_last(page):
    """Move the answers to a page's questions to its end, each with a link to its question."""
    found = page.article.select(
        ".quick details.answers, .proof-work details.answers, .proof-work details.compare"
    )
    if not found:
        return
    soup = BeautifulSoup('<section class="answers"><h2>Answers</h2></section>', "html.parser")
    last = soup.section
    for fold in found:
        box = fold.find_parent(id=True)
        head = box.select_one(".box-head .kind, .admonition-title")
        words = head.get_text().removesuffix("#")
        line = soup.new_tag("p")
        link = soup.new_tag("a", href=f"#{box['id']}")
        link.string = words if "admonition-title" in head.get("class", []) else f"{words}: {asked(box)}"
        line.append(link)
        last.append(line)
        for part in [*fold.extract().children]:
            if getattr(part, "name", None) != "summary":
                last.append(part)
        computed = box.find_next_sibling()
        if computed is not None and "tag_lines" in computed.get("class", []):  # it reveals the false line
            last.append(computed.extract())
    page.article.append(last)


def asked(box):
    """Return the first words of a question."""
    words = box.select_one(".asked").get_text(" ", strip=True).split()
    return " ".join(words[:8]) + (" …" if len(words) > 8 else "")


def name_formula(formula):
    """Turn a formula into a labelled picture; otherwise the file has its characters twice."""
    copy = formula.select_one("mjx-assistive-mml")
    formula["role"], formula["aria-label"] = "img", " ".join(copy.stripped_strings)
    copy.decompose()


def lower(page):
    """Lower the headings of a page by one level, because the part has the top level."""
    for level in (5, 4, 3, 2, 1):
        for heading in page.article.select(f"h{level}"):
            heading.name = f"h{level + 1}"


def relink(page, link, names, tops):
    """Point links at places in the document; remove links to other files of the book."""
    target = page.target(link["href"])
    if target is None:
        return
    name, place = target
    if name not in tops:
        link.unwrap()
    elif place and (name, place) not in names:
        raise Broken(f"{page.name} links to {name}#{place}, which does not exist")
    else:
        link["href"] = "#" + (names[name, place] if place else tops[name])


def title_page(up):
    """Return the title page."""
    config = built.config.settings()
    return (
        f'<section class="title-page"><img src="{up}/_static/{Path(config["logo"]).name}" alt="">'
        f'<p class="title">{escape(config["title"])}</p>'
        f'<p>{escape(config["author"])}</p><p class="licence">{escape(config["copyright"])}</p>'
        "</section>\n"
    )


def top(page):
    """Return the id of a page in the document, which also names its CSS page type."""
    return f"page-{built.slug(page.name)}"


def line(page):
    """Return a line of the contents: title and page number."""
    name = top(page)
    number = NUMBER.format(name=name)
    return f'<li><a href="#{name}"><span>{page.heading}</span><i></i>{number}</a></li>\n'


def sections(page):
    """Return links to the sections of a page: Chromium gives a destination only to link targets."""
    links = " · ".join(f'<a href="#{section["id"]}">{escape(text)}</a>' for section, text in page.sections)
    return f'<li class="sections">{links}</li>\n'


def contents(parts):
    """Return the table of contents: all pages with numbers and sections."""
    groups = "".join(
        (f'<p><a href="#{opener(found)}">{escape(part)}</a></p>' if part else "")
        + f"<ol>{''.join(line(page) + sections(page) for page in found)}</ol>\n"
        for part, found in parts
    )
    return f'<nav class="book-contents"><h1>Contents</h1>\n{groups}</nav>\n'


def opener(found):
    """Return the id of the sheet that opens a part."""
    return f"part-{built.slug(found[0].name)}"


def opening(part, found):
    """Return the sheet that opens a part."""
    lines = "".join(map(line, found))
    return f'<section class="part" id="{opener(found)}"><h1>{escape(part)}</h1><ol>{lines}</ol></section>\n'


def chapter(page):
    """Return the article of one page."""
    name = top(page)
    text = page.article.decode_contents()
    return f'<article class="bd-article" id="{name}" style="page: {name}">\n{text}</article>\n'


def heads(parts):
    """Return CSS that defines the running heads of each page of the book."""
    return "".join(
        f"@page {top(page)} {{ @top-left {{ content: {json.dumps(part, ensure_ascii=False)}; }} "
        f"@top-right {{ content: {json.dumps(page.title, ensure_ascii=False)}; }} }}\n"
        for part, found in parts
        for page in found
    )


def places(pdf):
    """Return {id: page number in the file, from 1} for every place that a link leads to."""
    reader = PdfReader(pdf)
    return {
        name.lstrip("/"): reader.get_destination_page_number(place) + 1
        for name, place in reader.named_destinations.items()
    }


def add_bookmarks(pdf, parts, found):
    """Add bookmarks for parts, pages and sections.

    Chromium's own bookmarks need tagged PDF, which takes minutes longer for a whole book.
    """
    writer = PdfWriter(clone_from=pdf)
    for part, pages in parts:
        above = writer.add_outline_item(part, found[opener(pages)] - 1) if part else None
        for page in pages:
            mark = writer.add_outline_item(page.title, found[top(page)] - 1, parent=above)
            for section, text in page.sections:
                writer.add_outline_item(text, found[section["id"]] - 1, parent=mark)
    config = built.config.settings()
    writer.add_metadata({"/Title": config["title"], "/Author": config["author"]})
    writer.page_mode = "/UseOutlines"
    writer.write(pdf)


def write(pdf, chosen=None, html=built.HTML):
    """Print, fill in the page numbers in the contents, and print again until no number changes.

    Return the start of the markup of each element that is too wide; there should be none.
    """
    folder = pdf.parent
    folder.mkdir(parents=True, exist_ok=True)
    source = pdf.with_suffix(".html")
    parts = parts_of(chosen, html)
    source.write_text(document(parts, html, folder), "utf8")
    with chromium.opened(source) as page:
        chromium.print_page(page, pdf, draft=True)
        for _ in range(TRIES):  # filling in a number may move a line to another page
            found = places(pdf)
            page.evaluate(FILL, found)
            chromium.print_page(page, pdf, draft=True)
            if places(pdf) == found:
                break
        else:
            raise RuntimeError(f"the page numbers still changed after {TRIES} prints")
        wide = chromium.too_wide(page)
    add_bookmarks(pdf, parts, found)
    return wide


def main(arguments):
    """Parse the command line and print the book."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("page", nargs="*", help="pages or chapters, such as book/intro (default: all)")
    parser.add_argument("--edition", default="", help="student or appendix, if that was built")
    parser.add_argument("--to", type=Path, metavar="FILE", help="output file")
    asked = parser.parse_args(arguments)
    html, folder = built.edition(asked.edition)
    name = asked.page[0].replace("/", "-") if len(asked.page) == 1 else NAME
    target = asked.to or folder / "pdf" / f"{name}.pdf"
    try:
        wide = write(target.resolve(), asked.page, html)
    except chromium.NoChromium as reason:
        print(f"The PDF was not made: {reason}.")
        return 1
    print(f"{target}, {len(PdfReader(target).pages)} pages")
    for markup in wide:
        print(f"too wide for the page: {markup}")
    return 1 if wide else 0
