"""Print an HTML file to PDF with the Chromium of this machine.

Call `to_pdf(html, pdf, header="")`, or `opened` and `print_page` for more control. Running heads and page
numbers are CSS margin boxes, so a document may define its own. Bookmarks come from the headings, and links
stay links.
"""

import json
import os
import shutil
from contextlib import contextmanager
from pathlib import Path

from playwright.sync_api import sync_playwright

NAMES = ("chromium", "chromium-browser", "google-chrome")
# No page may fetch anything from another host.
ARGUMENTS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE localhost",
]
FROM_FILES = "--allow-file-access-from-files"  # lets a local page load its fonts
MARGINS = """@page {{ size: A4; margin: 22mm 25mm;
  @top-left {{ content: {header}; font: 9pt sans-serif; color: #565e6a; }}
  @bottom-right {{ content: counter(page); font: 9pt sans-serif; color: #565e6a; }} }}"""
# Find elements that stick out of the column, or that are cut off by a box around them.
TOO_WIDE = """() => {
  const right = document.body.getBoundingClientRect().right + 1;
  const clipped = e => e.scrollWidth > e.clientWidth + 1 && getComputedStyle(e).overflowX !== 'visible';
  const out = e => e.getBoundingClientRect().right > right;
  return [...document.body.querySelectorAll('*')]
    .filter(e => e.checkVisibility() && e.clientWidth > 2 && (clipped(e) || out(e)))
    .map(e => e.outerHTML.slice(0, 200));
}"""


class NoChromium(Exception):
    """No browser was found to print with."""


def chromium():
    """Return the path of the browser: $CHROMIUM, or the first one installed; None if there is none."""
    return os.environ.get("CHROMIUM") or next(filter(None, map(shutil.which, NAMES)), None)


@contextmanager
def opened(html, width=794, height=1123):
    """Open the file in a browser as it looks on paper; the window has the size of the sheet."""
    if not chromium():
        raise NoChromium(f"none of {', '.join(NAMES)} found; install Chromium or set CHROMIUM to its path")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium(), args=[*ARGUMENTS, FROM_FILES])
        try:
            page = browser.new_page(viewport={"width": width, "height": height}, color_scheme="light")
            page.set_default_timeout(0)  # printing the whole book takes minutes
            page.emulate_media(media="print")
            page.goto(Path(html).resolve().as_uri())
            page.evaluate("document.fonts.ready.then(() => true)")
            yield page
        finally:
            browser.close()


def to_pdf(html, pdf, header=""):
    """Print a file. With a header, every page has it at the top and the page number at the bottom."""
    with opened(html) as page:
        print_page(page, pdf, header)


def print_page(page, pdf, header="", draft=False):
    """Print an opened page. A draft has the same layout but no bookmarks and tags, and is faster."""
    if header:
        page.add_style_tag(content=MARGINS.format(header=json.dumps(header)))
    Path(pdf).parent.mkdir(parents=True, exist_ok=True)
    final = not draft
    page.pdf(path=pdf, prefer_css_page_size=True, print_background=True, outline=final, tagged=final)


def too_wide(page):
    """Return the start of the markup of each element that is too wide for the column or is cut off."""
    return page.evaluate(TOO_WIDE)
