// Reduce the HTML of a cell to what tables and text need: no scripts, styles, addresses or event handlers.

const TAGS = new Set(
  ("table caption colgroup col thead tbody tfoot tr th td div span p br hr b strong i em u s small sub sup code pre " +
    "ul ol li dl dt dd details summary blockquote h3 h4 h5 h6").split(" "),
);
const ATTRIBUTES = new Set(["class", "colspan", "rowspan", "scope", "title", "open", "aria-label", "aria-hidden", "role"]);
const DROPPED = new Set(["script", "style", "template", "iframe", "object", "embed"]);

/** Return a fragment with the allowed elements; others are replaced by their content, scripts are removed. */
export function sanitised(html) {
  const parsed = new DOMParser().parseFromString(html, "text/html"); // inert: nothing loads, nothing runs
  const fragment = document.createDocumentFragment();
  fragment.append(...[...parsed.body.childNodes].flatMap(copy));
  return fragment;
}

function copy(node) {
  if (node.nodeType === Node.TEXT_NODE) return [document.createTextNode(node.data)];
  if (node.nodeType !== Node.ELEMENT_NODE) return [];
  const tag = node.localName;
  if (DROPPED.has(tag)) return [];
  const children = [...node.childNodes].flatMap(copy);
  if (!TAGS.has(tag)) return children;
  const element = document.createElement(tag);
  for (const { name, value } of node.attributes) if (ATTRIBUTES.has(name)) element.setAttribute(name, value);
  element.append(...children);
  return [element];
}
