// Draw a figure of svgplot.py: shapes become elements one by one, so that they cannot contain scripts.

const SPACE = "http://www.w3.org/2000/svg";
const TAGS = new Set(["path", "rect", "text", "svg"]);
const COLOURS = new Set(["fill", "stroke"]);
const PLAIN = new Set(
  ("d x y width height rx viewBox transform opacity fill-opacity stroke-width stroke-dasharray stroke-linejoin " +
    "text-anchor font-size font-weight font-style dy").split(" "),
);
const SAFE = /^[\w\s.,()+-]*$/; // numbers and words only: no addresses, no CSS functions with other characters

/** Return a colour as CSS: white is the background; others have a variable, which live.css sets in dark mode. */
export function colour(value) {
  if (value === "none") return value;
  if (!/^#[0-9a-f]{6}$/.test(value)) return "currentColor";
  return value === "#ffffff" ? "var(--pst-color-background)" : `var(--live-ink-${value.slice(1)}, ${value})`;
}

function dress(element, attributes) {
  for (const [name, value] of Object.entries(attributes)) {
    if (COLOURS.has(name)) element.setAttribute(name, colour(value));
    else if (PLAIN.has(name) && SAFE.test(value)) element.setAttribute(name, value);
  }
  return element;
}

function shape([tag, attributes, content = []]) {
  if (!TAGS.has(tag)) return [];
  const element = dress(document.createElementNS(SPACE, tag), attributes);
  if (tag === "svg") element.append(...content.flatMap(shape));
  if (tag === "text") {
    for (const [words, look] of content) {
      const piece = dress(document.createElementNS(SPACE, "tspan"), look);
      piece.append(words);
      element.append(piece);
    }
  }
  return [element];
}

export function figure({ size: [width, height], label, shapes }) {
  const element = document.createElementNS(SPACE, "svg");
  element.setAttribute("viewBox", `0 0 ${Number(width)} ${Number(height)}`);
  element.setAttribute("role", "img");
  element.setAttribute("aria-label", label);
  element.setAttribute("class", "live-figure");
  element.append(...shapes.flatMap(shape));
  return element;
}
