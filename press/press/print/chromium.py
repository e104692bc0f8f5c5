"""Print an HTML file to PDF with the Chromium of this machine.

`to_pdf(html, pdf, header="")` is the short way. Running heads and page numbers are margin boxes
of CSS, so a document may bring its own; bookmarks come from its headings, links stay links.
"""

import json
import os
import shutil
from contextlib import contextmanager
from pathlib import Path

from playwright.sync_api import sync_playwright

NAMES = ("chromium", "chromium-browser", "google-chrome")
# Nothing may be fetched from elsewhere, whatever a page asks for.
ARGUMENTS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE localhost",
]
FROM_FILES = "--allow-file-access-from-files"  # or a page that is a file may not load its fonts
MARGINS = """@page {{ size: A4; margin: 22mm 25mm;
  @top-left {{ content: {header}; font: 9pt sans-serif; color: #565e6a; }}
  @bottom-right {{ content: counter(page); font: 9pt sans-serif; color: #565e6a; }} }}"""
# What sticks out of the column on paper, or of a box that cuts it, as the beginning of its markup.
TOO_WIDE = """() => {
  const right = document.body.getBoundingClientRect().right + 1;
  const clipped = e => e.scrollWidth > e.clientWidth + 1 && getComputedStyle(e).overflowX !== 'visible';
  const out = e => e.getBoundingClientRect().right > right;
  return [...document.body.querySelectorAll('*')]
    .filter(e => e.checkVisibility() && e.clientWidth > 2 && (clipped(e) || out(e)))
    .map(e => e.outerHTML.slice(0, 200));
}"""


class NoChromium(Exception):
    """There is no browser to print with."""


def chromium():
    """The path of the browser: what CHROMIUM says, or the first that is installed; None if there is none."""
    return os.environ.get("CHROMIUM") or next(filter(None, map(shutil.which, NAMES)), None)


@contextmanager
def opened(html, width=794, height=1123):
    """The file in a page of a browser, as it looks on paper; the window has the size of the sheet."""
    if not chromium():
        raise NoChromium(f"none of {', '.join(NAMES)} found, and CHROMIUM is not set")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium(), args=[*ARGUMENTS, FROM_FILES])
        try:
            page = browser.new_page(viewport={"width": width, "height": height}, color_scheme="light")
            page.set_default_timeout(0)  # a whole book takes minutes
            page.emulate_media(media="print")
            page.goto(Path(html).resolve().as_uri())
            page.evaluate("document.fonts.ready.then(() => true)")
            yield page
        finally:
            browser.close()


def to_pdf(html, pdf, header=""):
    """Print a file. With a header every page has it on top and its number below."""
    with opened(html) as page:
        print_page(page, pdf, header)


def print_page(page, pdf, header="", draft=False):
    """Print an opened page. A draft has the same sheets in less time, without bookmarks and tags."""
    if header:
        page.add_style_tag(content=MARGINS.format(header=json.dumps(header)))
    Path(pdf).parent.mkdir(parents=True, exist_ok=True)
    final = not draft
    page.pdf(path=pdf, prefer_css_page_size=True, print_background=True, outline=final, tagged=final)


def too_wide(page):
    """What of an opened page sticks out of the column or of a box that cuts it, as beginnings of markup."""
    return page.evaluate(TOO_WIDE)
