// Create elements without innerHTML, so that text is never parsed as HTML.

export function make(tag, properties = {}, ...children) {
  const element = Object.assign(document.createElement(tag), properties);
  element.append(...children);
  return element;
}

export function button(label, onClick, properties = {}) {
  const element = make("button", { type: "button", textContent: label, className: "live-button", ...properties });
  element.addEventListener("click", onClick);
  return element;
}

/** Return a live region, which screen readers read out when it changes. */
export const status = (className) => {
  const element = make("span", { className });
  element.setAttribute("role", "status");
  return element;
};

export const megabytes = (bytes) => (bytes / 1e6).toFixed(1);
