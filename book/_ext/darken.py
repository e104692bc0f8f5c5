"""The dark twin of a figure: each colour of the palette has one for a dark page, and white paper goes."""

import re

# colours of ocolib.plots and of matplotlib's own ink, and what they are in the dark
PALETTE = {
    "#c44e00": "#ff9455",
    "#0067a5": "#6cb6f2",
    "#8a4fbf": "#c79bf0",
    "#00805e": "#4fc9a2",
    "#b8356b": "#f285b0",
    "#222222": "#dde1e8",
    "#777777": "#9aa3b0",
    "#a07800": "#dcb544",
    "#d9e6f2": "#27384a",
    "#444444": "#b9c1cc",
    "#555555": "#b9c1cc",
    "#666666": "#a3acb9",
    "#888888": "#9aa3b0",
    "#999999": "#8b94a1",
    "#aaaaaa": "#77808d",
    "#bbbbbb": "#68717e",
    "#cccccc": "#545c68",
    "#dddddd": "#434b57",
    "#e5e5e5": "#323943",
    "#eeeeee": "#2a3039",
    "#000000": "#dde1e8",
    "#262626": "#dde1e8",
}
COLOUR = re.compile(r"#[0-9a-fA-F]{6}\b")
PAPER = re.compile(r"(fill: ?)#ffffff\b")


def darken(svg):
    """Map the palette; paper becomes transparent; ink that was never named becomes light.

    >>> darken('<path style="fill: #ffffff; stroke: #0067a5"/>')
    '<path style="fill: none; stroke: #6cb6f2"/>'
    """
    svg = PAPER.sub(r"\1none", svg)
    svg = COLOUR.sub(lambda match: PALETTE.get(match[0].lower(), match[0]), svg)
    # matplotlib leaves black unsaid: glyphs and tick marks inherit it
    return re.sub(r"<svg ", '<svg fill="#dde1e8" ', svg, count=1)
