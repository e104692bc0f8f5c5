"""Draw the initial state of the interactive figures, for print, PDF and Jupyter.

python -m press figures [name ...]    write book/_static/figures/static/*.svg (default: all)

The figures draw themselves in Chromium, so there is no second drawing code.
"""

import sys

from playwright.sync_api import sync_playwright

from press import ROOT
from press.print.chromium import ARGUMENTS, NAMES, chromium
from press.sphinx import figures

CHROMIUM = chromium()

# Write every colour as an attribute, because a picture in a page does not see the page's style sheets.
PICTURE = """figure => {
  const live = figure.querySelector('.mf-stage > svg'), copy = live.cloneNode(true);
  const names = ['fill', 'stroke', 'stroke-width', 'stroke-dasharray', 'stroke-linejoin', 'opacity',
                 'text-anchor', 'font-weight', 'paint-order'];
  const initial = {fill: 'rgb(0, 0, 0)', stroke: 'none', 'stroke-width': '1px', 'stroke-dasharray': 'none',
                   'stroke-linejoin': 'miter', opacity: '1', 'text-anchor': 'start', 'font-weight': '400',
                   'paint-order': 'normal'};
  const nodes = [live, ...live.querySelectorAll('*')], copies = [copy, ...copy.querySelectorAll('*')];
  nodes.forEach((node, i) => {
    const style = getComputedStyle(node);
    copies[i].removeAttribute('class');
    copies[i].removeAttribute('data-keys');
    if (/^(path|circle|line|rect|text)$/.test(node.localName)) {
      for (const name of names) {
        if (style[name] !== initial[name]) copies[i].setAttribute(name, style[name]);
      }
    }
  });
  copy.querySelectorAll('[fill="rgba(0, 0, 0, 0)"]').forEach(node => node.remove());
  const [, , W, H] = copy.getAttribute('viewBox').split(' ');
  for (const name of ['role', 'aria-label']) copy.removeAttribute(name);
  for (const [name, value] of Object.entries({xmlns: 'http://www.w3.org/2000/svg', width: W, height: H,
    'font-family': 'sans-serif', 'font-size': 13})) copy.setAttribute(name, value);
  const paper = document.createElementNS('http://www.w3.org/2000/svg', 'rect');
  paper.setAttribute('width', W);
  paper.setAttribute('height', H);
  paper.setAttribute('fill', '#fff');
  copy.prepend(paper);
  return copy.outerHTML;
}"""


def fixture(*names, theme="light", width="640px"):
    """Return a page with only figures, for this module and for the tests."""
    style = (figures.SOURCE / "figures.css").read_text("utf8")
    shown = "".join(figures.opening(name) + "</div></moving-figure>" for name in names)
    return (
        f'<!doctype html><html lang="en" data-theme="{theme}"><meta charset="utf-8"><title>figures</title>'
        f"<style>{style} body {{ font: 16px sans-serif; margin: 0; max-width: {width}; }}</style>"
        f"<script>{figures.script()}</script><body>{shown}</body></html>"
    )


def picture(page, name):
    """Return one figure as SVG text."""
    page.set_content(fixture(name))
    return page.locator("moving-figure").evaluate(PICTURE).replace("><", ">\n<") + "\n"


def main(names):
    """Draw the figures with these names, or all."""
    if not CHROMIUM:
        sys.exit(f"None of {', '.join(NAMES)} was found: install Chromium, or set CHROMIUM to its path.")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
        page = browser.new_page(viewport={"width": 700, "height": 900})
        for name in names or figures.NAMES:
            path = figures.SOURCE / "static" / f"{name}.svg"
            path.write_text(picture(page, name), "utf8")
            print(path.relative_to(ROOT), f"{path.stat().st_size} bytes")
        browser.close()
