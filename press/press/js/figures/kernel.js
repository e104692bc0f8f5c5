// The common part of all interactive figures: drawing, scales, handles, native inputs, presets, guesses, and
// the state in the address of the page.
//
// A figure is a description, registered with `figure(name, {...})`:
//   title     its title; label: a description for screen readers
//   controls  [{key, label, name, min, max, step} | {key, label, name, values} | {key, label, options} |
//              {key, pattern}]: the state; ranges and lists become native inputs. `matters(state, numbers)`
//              returns false while a control has no effect; `more: true` folds it away
//   presets   {name: state}; the first is the initial state
//   actions   {label: (state, numbers) => patch}: buttons; `more` lists those that are folded away
//   play      {frames: (state, numbers) => [patch, …], pace: milliseconds}: the animation of the Play button
//   tap(x, y, state)  returns the patch for a click beside the handles; default: move the nearest handle there
//   guess     {ask, state, axes: "x" | "y" | "xy", start, range, name, judge(guess, state, numbers)}, and
//             optionally {plot: index of the plot, rows: true if y numbers rows of height 1, read: formats a guess,
//             show: patch for the answer}
//   draw(view, state, numbers)  draws, and returns the readings [[key, label, text], …] below the figure

const SVG = "http://www.w3.org/2000/svg";
const figures = {};
const calm = matchMedia("(prefers-reduced-motion: reduce)");

export const figure = (name, spec) => { figures[name] = spec; };

// Format a number with a real minus sign, and never as minus zero.
export const num = (x, digits = 4) => {
  const text = x.toFixed(digits);
  return (Number(text) === 0 ? text.replace("-", "") : text).replace("-", "−");
};

const grow = (node, attributes, children) => {
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else if (value !== null && value !== undefined && value !== false) node.setAttribute(name, value === true ? "" : value);
  }
  node.append(...children);
  return node;
};
export const html = (tag, attributes = {}, ...children) =>
  grow(document.createElement(tag), attributes, children);
export const svg = (tag, attributes = {}, ...children) => {
  const short = Object.entries(attributes).map(([k, v]) => [k, typeof v === "number" ? +v.toFixed(2) : v]);
  return grow(document.createElementNS(SVG, tag), Object.fromEntries(short), children);
};

// Split a text with indices, such as w_{t+1} or w_12, into pairs [index, text after it].
const indices = text => {
  const parts = text.split(/_\{([^}]*)\}|_(\w+)/);
  return parts.flatMap((part, i) => (i % 3 ? [] : [[i ? parts[i - 2] ?? parts[i - 1] : "", part]]));
};
const written = (text, attributes) => {
  const node = svg("text", attributes);
  for (const [low, rest] of indices(text)) {
    if (low) node.append(svg("tspan", { dy: "0.3em", "font-size": "75%" }, low));
    if (rest) node.append(svg("tspan", { dy: low ? "-0.22em" : null }, rest));
  }
  return node;
};
const spoken = text => indices(text).flatMap(([low, rest]) => (low ? [html("sub", {}, low), rest] : [rest]));

const ticks = (low, high, many) => {
  const raw = (high - low) / many, power = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 5, 10].map(m => m * power).find(s => s >= raw * 0.999);
  const first = Math.ceil(low / step - 1e-9);
  return Array.from({ length: Math.floor(high / step + 1e-9) - first + 1 }, (_, i) => (first + i) * step);
};
const short = x => String(+x.toPrecision(6)).replace("-", "−");

// A pair of axes inside a view.
class Plot {
  constructor(view, { x, y, box, log = false, equal = false, xlabel = "", ylabel = "", axes = true, xticks, yticks }) {
    const [left, top, width, height] = box ?? [46, 12, view.W - 60, view.H - (xlabel ? 54 : 38)];
    Object.assign(this, { view, log, left, top, width, height });
    const value = log ? Math.log : v => v;
    let [x0, x1] = x.map(value), [y0, y1] = y;
    if (equal) { // equal units on both axes
      const unit = Math.min(width / (x1 - x0), height / (y1 - y0));
      const wider = width / unit - (x1 - x0), taller = height / unit - (y1 - y0);
      [x0, x1, y0, y1] = [x0 - wider / 2, x1 + wider / 2, y0 - taller / 2, y1 + taller / 2];
    }
    this.px = v => left + (value(v) - x0) / (x1 - x0) * width;
    this.py = v => top + (y1 - v) / (y1 - y0) * height;
    this.ix = p => { const v = x0 + (p - left) / width * (x1 - x0); return log ? Math.exp(v) : v; };
    this.iy = p => y1 - (p - top) / height * (y1 - y0);
    if (axes) this.axes(xticks ?? (log ? x : ticks(x0, x1, width / 70)), yticks ?? ticks(y0, y1, height / 36), xlabel, ylabel);
    // a nested svg clips its content
    this.inside = view.add("svg", {
      x: left, y: top, width, height, viewBox: [left, top, width, height].map(v => +v.toFixed(2)).join(" "),
    });
    view.plots.push(this);
  }
  axes(xs, ys, xlabel, ylabel) {
    const { view, left, top, width, height } = this, bottom = top + height;
    for (const y of ys) {
      view.add("line", { class: "grid", x1: left, x2: left + width, y1: this.py(y), y2: this.py(y) });
      view.text(left - 6, this.py(y) + 4, short(y), "muted end");
    }
    for (const x of xs) {
      view.add("line", { class: "grid", x1: this.px(x), x2: this.px(x), y1: top, y2: bottom });
      view.text(this.px(x), bottom + 16, short(x), "muted middle");
    }
    if (xlabel) view.text(left + width / 2, bottom + 34, xlabel, "middle");
    if (ylabel) view.text(left + 4, top + 10, ylabel, "");
  }
  line(points, kind, closed = false) {
    const seen = points.filter(([x, y]) => Number.isFinite(x) && Number.isFinite(y));
    if (!seen.length) return;
    const d = "M" + seen.map(([x, y]) => `${this.px(x).toFixed(1)} ${this.py(y).toFixed(1)}`).join("L") + (closed ? "Z" : "");
    this.inside.append(svg("path", { class: kind, d }));
  }
  dot(x, y, kind, r = 4) {
    this.inside.append(svg("circle", { class: kind, cx: this.px(x), cy: this.py(y), r }));
  }
  text(x, y, text, kind, dx = 0, dy = 0) {
    this.view.text(this.px(x) + dx, this.py(y) + dy, text, kind);
  }
  arrow(from, to, kind) {
    const [a, b, c, d] = [this.px(from[0]), this.py(from[1]), this.px(to[0]), this.py(to[1])];
    const long = Math.hypot(c - a, d - b);
    this.line([from, to], `line ${kind}`);
    if (long < 1) return;
    const [u, v] = [(c - a) / long, (d - b) / long], s = Math.min(9, long);
    const tip = [[c, d], [c - s * u - s / 2.4 * v, d - s * v + s / 2.4 * u], [c - s * u + s / 2.4 * v, d - s * v - s / 2.4 * u]];
    this.inside.append(svg("path", { class: `dot ${kind}`, d: "M" + tip.map(p => p.map(q => q.toFixed(1)).join(" ")).join("L") + "Z" }));
  }
  // Draw a point that can be dragged; `patch(x, y)` returns the change of state. `keys` are its inputs.
  handle(x, y, keys, patch, kind = "ink") {
    const at = [this.px(x), this.py(y)];
    this.view.add("circle", { class: "reach", cx: at[0], cy: at[1], r: 26 });
    this.view.add("circle", { class: `handle ${kind}`, cx: at[0], cy: at[1], r: 8, "data-keys": keys.join(" ") });
    this.view.handles.push({ at, keys, move: (px, py) => patch(this.ix(px), this.iy(py)) });
  }
}

// The drawing area of a figure: W by H units of one CSS pixel (more on a large screen).
class View {
  constructor(root, W, H) {
    Object.assign(this, { root, W, H, plots: [], handles: [], hide: false, narrow: W < 480 });
    root.setAttribute("viewBox", `0 0 ${+W.toFixed(2)} ${+H.toFixed(2)}`);
    root.replaceChildren();
  }
  add(tag, attributes) {
    const node = svg(tag, attributes);
    this.root.append(node);
    return node;
  }
  text(x, y, text, kind) {
    const node = written(text, { class: kind, x, y });
    this.root.append(node);
    return node;
  }
  plot(options) {
    return new Plot(this, options);
  }
}

// Return the state in the address: #eta=0.3&T=64, for all figures of a page or, with figure=name, for one.
const address = () => location.hash.includes("=") ? Object.fromEntries(new URLSearchParams(location.hash.slice(1))) : {};

const snap = (control, raw) => {
  if (control.pattern) return control.pattern.test(raw) ? raw : undefined;
  if (control.options) return Object.hasOwn(control.options, raw) ? raw : undefined;
  const value = Number(raw);
  if (raw === "" || !Number.isFinite(value)) return undefined;
  if (control.values) return control.values.reduce((a, b) => Math.abs(b - value) < Math.abs(a - value) ? b : a);
  const steps = Math.round((value - control.min) / control.step);
  return Math.min(Math.max(+(control.min + steps * control.step).toFixed(10), control.min), control.max);
};

// Return frames for Play: a control sweeps once through all its values and returns to the start.
export const swing = (key, values) => state => {
  const at = values.reduce((best, value, i) => Math.abs(value - state[key]) < Math.abs(values[best] - state[key]) ? i : best, 0);
  const there = values.slice(at), back = values.slice(0, at);
  return [...there, ...[...there].reverse(), ...[...back].reverse(), ...back, state[key]].map(value => ({ [key]: value }));
};

class MovingFigure extends HTMLElement {
  connectedCallback() {
    const spec = this.spec = figures[this.dataset.figure];
    if (!spec || this.stage) return;
    this.numbers = JSON.parse(this.dataset.numbers || "null");
    this.controls = spec.controls(this.numbers);
    this.presets = spec.presets(this.numbers);
    this.state = this.filled(Object.values(this.presets)[0]);
    this.guess = null; // {x, y, done}
    this.build();
    this.classList.add("mf-live");
    this.read();
    addEventListener("hashchange", () => this.read());
    new ResizeObserver(() => this.render()).observe(this.stage);
  }

  // ---------------------------------------------------------------- state

  filled(preset) {
    const state = typeof preset === "function" ? preset(this.numbers) : preset;
    const blank = Object.fromEntries(this.controls.map(c => [c.key, c.start]));
    return { ...blank, ...state };
  }

  set(patch, quiet = false) {
    this.land();
    if (!quiet) this.pause();
    for (const control of this.controls) {
      if (!(control.key in patch)) continue;
      const value = snap(control, patch[control.key]);
      if (value !== undefined) this.state[control.key] = value;
    }
    this.later();
    if (!quiet) this.write();
  }

  // Go to a preset: in a third of a second, or at once for readers who prefer reduced motion.
  go(preset) {
    this.land();
    const from = { ...this.state }, to = this.filled(preset);
    const moved = this.controls.filter(c => c.step && from[c.key] !== to[c.key]).map(c => c.key);
    this.set(to);
    if (calm.matches || !moved.length) return;
    const begin = performance.now();
    const glide = now => {
      const s = Math.min((now - begin) / 300, 1), ease = s * s * (3 - 2 * s);
      if (s === 1) this.landing = null;
      for (const key of moved) this.state[key] = s < 1 ? from[key] + ease * (to[key] - from[key]) : to[key];
      this.render();
      if (s < 1) this.gliding = requestAnimationFrame(glide);
    };
    this.gliding = requestAnimationFrame(glide);
    this.landing = to;
  }

  // Show one frame after another until the reader interacts.
  playOn() {
    if (this.playing) return this.pause();
    this.forget();
    const { frames, pace } = this.spec.play, list = frames(this.state, this.numbers);
    const next = i => {
      this.set(list[i], true);
      if (i + 1 < list.length) this.playing = setTimeout(() => next(i + 1), pace);
      else this.pause();
    };
    this.playing = setTimeout(() => next(0));
    this.sayPlay("Pause");
  }

  pause() {
    if (!this.playing) return;
    clearTimeout(this.playing);
    this.playing = null;
    this.sayPlay("Play");
    this.write();
  }

  sayPlay(word) {
    this.playButton.textContent = word === "Play" ? "▶ Play" : "❚❚ Pause";
    this.playButton.setAttribute("aria-label", `${word}: ${this.spec.title}`);
  }

  // End a transition at its target.
  land() {
    cancelAnimationFrame(this.gliding);
    if (this.landing) Object.assign(this.state, this.landing);
    this.landing = null;
  }

  read() {
    const given = address();
    if (given.figure && given.figure !== this.dataset.figure) return;
    const known = this.controls.filter(c => c.key in given);
    if (known.length) this.set(Object.fromEntries(known.map(c => [c.key, given[c.key]])), true);
    if (given.full && (known.length || given.figure)) this.enlarge(true);
    this.render();
    if (given.figure) requestAnimationFrame(() => this.scrollIntoView());
  }

  write() {
    clearTimeout(this.writing);
    const words = this.link(); // compute it now: a transition passes through other states
    this.writing = setTimeout(() => history.replaceState(history.state, "", words), 250);
  }

  // Return the state as a fragment; empty values are included, or the first preset would replace them.
  link() {
    const state = this.controls.filter(c => this.state[c.key] !== undefined).map(c => [c.key, this.state[c.key]]);
    return `#${new URLSearchParams([["figure", this.dataset.figure], ...state])}`;
  }

  async copyLink() {
    clearTimeout(this.writing);
    this.land();
    history.replaceState(history.state, "", this.link());
    try {
      await navigator.clipboard.writeText(location.href);
      this.copied.textContent = "Link copied.";
    } catch {
      this.copied.textContent = "Copy the link from the address bar of the browser.";
    }
    setTimeout(() => { this.copied.textContent = ""; }, 4000);
  }

  // ---------------------------------------------------------------- elements of the page

  build() {
    const { spec } = this;
    this.root = svg("svg", { role: "img" });
    this.big = html("button", { type: "button", class: "mf-full-button", title: "Full screen", "aria-label": "Full screen", "aria-pressed": "false",
      onclick: () => this.enlarge(!this.classList.contains("mf-full")) },
      svg("svg", { width: 14, height: 14 }, svg("path", { class: "line ink", d: "M1 5V1h4M9 1h4v4M13 9v4H9M5 13H1V9" })));
    this.stage = html("div", { class: "mf-stage" }, this.root);
    this.copied = html("span", { role: "status" });
    this.playButton = html("button", { type: "button", class: "mf-play", onclick: () => this.playOn() });
    this.sayPlay("Play");
    const head = html("div", { class: "mf-head" },
      html("p", { class: "mf-title" }, ...(this.dataset.number ? [html("span", { class: "mf-number" }, `Moving figure ${this.dataset.number}`), " "] : []), spec.title),
      this.playButton,
      html("div", { class: "mf-tools" }, this.copied, html("button", { type: "button", class: "mf-copy", onclick: () => this.copyLink() }, "Copy link"), this.big));
    this.inputs = {};
    const rows = this.controls.filter(c => !c.pattern).map(c => [this.input(c), c.more]);
    const presets = Object.entries(this.presets).map(([name, preset]) =>
      html("button", { type: "button", onclick: () => { this.forget(); this.go(preset); } }, name));
    const actions = Object.entries(spec.actions ?? {}).map(([name, act]) => [
      html("button", { type: "button", onclick: () => { this.forget(); this.set(act(this.state, this.numbers)); } }, name), spec.more?.includes(name)]);
    const pick = (list, folded) => list.filter(([, more]) => Boolean(more) === folded).map(([node]) => node);
    const adjust = folded => [
      ...(pick(rows, folded).length ? [html("div", { class: "mf-controls" }, ...pick(rows, folded))] : []),
      ...(pick(actions, folded).length ? [html("div", { class: "mf-buttons mf-actions" }, ...pick(actions, folded))] : []),
    ];
    const folded = adjust(true);
    const group = (words, ...children) => html("div", { class: "mf-group", role: "group", "aria-label": words }, html("span", { class: "mf-legend", "aria-hidden": "true" }, words), html("div", {}, ...children));
    this.says = html("p", { class: "mf-say", role: "status" });
    const ask = spec.guess ? [this.ask()] : [];
    const examples = group("Try this", html("div", { class: "mf-buttons" }, ...presets, ...(ask.length ? [this.begin] : [])));
    const changes = group(spec.moves ?? "Adjust", ...adjust(false), ...(folded.length ? [html("details", { class: "mf-more" }, html("summary", {}, "More"), ...folded)] : []));
    this.classList.toggle("mf-game", Boolean(spec.moves));
    this.panel = html("div", { class: "mf-panel" }, ...ask, ...(spec.moves ? [changes, this.says, examples] : [examples, changes, this.says])); // in a game: the moves, then what they did
    this.append(head, this.stage, this.panel);
    this.root.addEventListener("pointerdown", event => this.take(event));
    this.root.addEventListener("click", event => this.click(event));
    // dragging a handle must not scroll the page; touch-action on part of an svg does not prevent that
    this.root.addEventListener("touchstart", event => { if (this.within(event.touches[0])) event.preventDefault(); }, { passive: false });
    addEventListener("keydown", event => { if (event.key === "Escape" && !document.fullscreenElement) this.enlarge(false); });
    document.addEventListener("fullscreenchange", () => { if (!document.fullscreenElement) this.enlarge(false); });
  }

  input(control) {
    const { key, label, name = label } = control;
    let field;
    if (control.options) {
      const options = Object.entries(control.options).map(([value, words]) => html("option", { value }, words));
      field = html("select", { "aria-label": name, onchange: () => { this.forget(); this.set({ [key]: field.value }); } }, ...options);
    } else {
      const [min, max, step] = control.values ? [0, control.values.length - 1, 1] : [control.min, control.max, control.step];
      field = html("input", { type: "range", min, max, step, "aria-label": name, "data-key": key,
        oninput: () => this.set({ [key]: control.values ? control.values[field.value] : field.value }),
        onfocus: () => this.mark(key, true), onblur: () => this.mark(key, false) });
    }
    const shown = control.options ? "" : html("output");
    const row = html("label", { class: "mf-control" }, html("span", {}, label), field, shown);
    this.inputs[key] = { control, field, shown, row };
    return row;
  }

  mark(key, on) {
    this.focused = on ? key : null;
    this.render();
  }

  // ---------------------------------------------------------------- a guess before the answer

  ask() {
    const { guess } = this.spec;
    this.question = typeof guess.ask === "function" ? guess.ask(this.numbers) : guess.ask;
    const field = axis => html("input", { type: "range", "aria-label": `your guess: ${guess.name[axis]}`, "data-guess": axis,
      min: guess.range[axis][0], max: guess.range[axis][1], step: guess.range[axis][2] ?? (guess.range[axis][1] - guess.range[axis][0]) / 100,
      oninput: event => { this.guess[axis] = Number(event.target.value); this.later(); } });
    this.fields = Object.fromEntries([...guess.axes].map(axis => [axis, field(axis)]));
    this.begin = html("button", { type: "button", class: "mf-begin", onclick: () => this.start() }, "Guess first");
    this.reveal = html("button", { type: "button", onclick: () => this.answer() }, "Reveal");
    this.drop = html("button", { type: "button", onclick: () => { this.forget(); this.render(); this.begin.focus(); } }, "Not now");
    this.verdict = html("p", { class: "mf-verdict", role: "status" });
    this.asked = html("div", { class: "mf-guess" }, this.verdict,
      ...Object.entries(this.fields).map(([axis, input]) => html("label", { class: "mf-control mf-guessing" }, html("span", {}, guess.name[axis]), input, html("output"))),
      html("div", { class: "mf-buttons" }, this.reveal, this.drop));
    return this.asked;
  }

  start() {
    const { guess } = this.spec;
    this.go(this.filled(guess.state));
    this.land();
    this.guess = { ...guess.start, done: false };
    for (const [axis, input] of Object.entries(this.fields)) input.value = guess.start[axis];
    this.render();
    Object.values(this.fields)[0].focus({ preventScroll: true });
    this.stage.scrollIntoView({ block: "nearest" });
  }

  answer() {
    this.guess.done = true;
    if (this.spec.guess.show) this.set(this.spec.guess.show(this.state), true);
    this.render();
    this.begin.focus();
  }

  forget() {
    this.guess = null;
  }

  showGuess(view) {
    const { guess } = this.spec, plot = view.plots[guess.plot ?? 0], { x, y } = this.guess;
    const [px, py] = [plot.px(x), plot.py(y)];
    const end = [plot.left + plot.width, plot.top + plot.height];
    if (guess.rows) { // a frame round the row, not a line through its formula
      const [from, to] = [plot.py(Math.floor(y)), plot.py(Math.floor(y) + 1)];
      view.add("rect", { class: "guess frame", x: plot.left + 1, y: from, width: plot.width - 2, height: to - from, rx: 4 });
    } else if (guess.axes === "x") view.add("line", { class: "guess dash", x1: px, x2: px, y1: plot.top, y2: end[1] });
    else if (guess.axes === "y") view.add("line", { class: "guess dash", x1: plot.left, x2: end[0], y1: py, y2: py });
    else {
      for (const s of [-1, 1]) view.add("line", { class: "guess", x1: px - 7, y1: py - 7 * s, x2: px + 7, y2: py + 7 * s });
    }
  }

  // ---------------------------------------------------------------- pointer and touch

  where(event) {
    const box = this.root.getBoundingClientRect();
    return [(event.clientX - box.left) / this.scale, (event.clientY - box.top) / this.scale];
  }

  guessAt([px, py]) {
    const plot = this.view.plots[this.spec.guess.plot ?? 0], { range } = this.spec.guess;
    const spot = { x: plot.ix(px), y: plot.iy(py) };
    for (const [axis, input] of Object.entries(this.fields)) {
      input.value = Math.min(Math.max(spot[axis], range[axis][0]), range[axis][1]);
      this.guess[axis] = Number(input.value);
    }
    this.render();
  }

  near([px, py]) {
    const away = handle => Math.hypot(handle.at[0] - px, handle.at[1] - py);
    return this.view.handles.map((handle, i) => [away(handle), i]).sort((a, b) => a[0] - b[0])[0];
  }

  // Return the handle within reach of the pointer, if handles can be dragged now.
  within(event) {
    const [distance, which] = this.near(this.where(event)) ?? [Infinity];
    return (this.guess && !this.guess.done) || distance > 26 ? undefined : { which };
  }

  take(event) {
    const taken = this.within(event);
    if (!taken || event.button) return;
    const { which } = taken;
    this.forget();
    this.root.setPointerCapture(event.pointerId);
    const move = moved => { this.dragged = true; this.set(this.view.handles[which].move(...this.where(moved))); };
    const drop = () => {
      this.root.removeEventListener("pointermove", move);
      setTimeout(() => { this.dragged = false; });
    };
    this.root.addEventListener("pointermove", move);
    for (const end of ["pointerup", "pointercancel"]) this.root.addEventListener(end, drop, { once: true });
  }

  click(event) {
    if (this.dragged) return;
    const spot = this.where(event);
    if (this.guess && !this.guess.done) return this.guessAt(spot);
    const plot = this.view.plots[0], [, which] = this.near(spot) ?? [];
    this.forget();
    if (this.spec.tap) this.set(this.spec.tap(plot.ix(spot[0]), plot.iy(spot[1]), this.state));
    else if (which !== undefined) this.set(this.view.handles[which].move(...spot));
  }

  enlarge(on) {
    if (on === this.classList.contains("mf-full")) return;
    this.classList.toggle("mf-full", on);
    this.big.setAttribute("aria-pressed", on);
    if (on) this.requestFullscreen?.().catch(() => {}); // without permission it still fills the window
    else if (document.fullscreenElement) document.exitFullscreen();
    this.render();
  }

  // ---------------------------------------------------------------- drawing

  later() {
    this.waiting ??= requestAnimationFrame(() => { this.waiting = null; this.render(); });
  }

  render() {
    const box = this.stage.getBoundingClientRect();
    if (!box.width) return;
    this.scale = this.classList.contains("mf-full") ? Math.max(1, Math.min(box.width / 640, box.height / 340)) : 1;
    const view = this.view = new View(this.root, box.width / this.scale, box.height / this.scale);
    const asking = this.guess && !this.guess.done;
    view.hide = Boolean(asking);
    const said = this.spec.draw(view, this.state, this.numbers);
    if (this.guess) this.showGuess(view);
    for (const node of this.root.querySelectorAll(".handle")) {
      node.classList.toggle("focused", node.dataset.keys.split(" ").includes(this.focused));
    }
    for (const { control, field, shown, row } of Object.values(this.inputs)) {
      const value = this.state[control.key];
      field.value = control.values ? control.values.indexOf(value) : value;
      field.disabled = asking;
      row.classList.toggle("mf-off", control.matters?.(this.state, this.numbers) === false);
      if (!shown) continue;
      const text = (control.show ?? (v => num(v, 2)))(value, this.numbers);
      shown.textContent = text;
      field.setAttribute("aria-valuetext", text);
    }
    this.says.replaceChildren(...(asking ? [] : said).map(([key, label, text]) =>
      html("span", {}, ...spoken(label), " ", html("b", { "data-key": key }, ...spoken(text)))));
    this.root.setAttribute("aria-label", [this.spec.label, ...(asking ? [] : said.map(([, label, text]) => `${label} ${text}`))].join(". "));
    if (!this.spec.guess) return;
    this.classList.toggle("mf-asking", Boolean(asking));
    this.asked.hidden = !this.guess;
    const words = this.guess?.done ? this.spec.guess.judge(this.guess, this.state, this.numbers) : this.guess ? this.question : "";
    if (this.words !== words) this.verdict.replaceChildren(...spoken(this.words = words));
    for (const input of Object.values(asking ? this.fields : {})) {
      const text = (this.spec.guess.read ?? (v => num(v, 2)))(Number(input.value));
      input.nextSibling.textContent = text;
      input.setAttribute("aria-valuetext", text);
    }
    this.reveal.hidden = this.drop.hidden = !asking;
  }
}

// ---------------------------------------------------------------- the waterfall of a proof

// Draw a chain {lines: [{value, formula, reason}]}, one row per line: its value and its slack.
export const drawChain = (view, chain, chosen = -1) => {
  const { lines } = chain, values = lines.map(line => line.value), n = lines.length;
  const top = 18, row = (view.H - top - 34) / n;
  const low = Math.min(0, ...values), high = Math.max(...values) * 1.0 || 1;
  const plot = view.plot({ x: [low, high + 0.16 * (high - low)], y: [n, 0], box: [12, top, view.W - 24, row * n], yticks: [] });
  lines.forEach(({ value, formula }, i) => {
    const before = i ? values[i - 1] : 0, y = top + i * row, bar = Math.min(13, row * 0.36);
    const [a, b] = [plot.px(Math.min(before, value)), plot.px(Math.max(before, value))];
    const words = view.text(14, y + row * 0.5 - 3, (i ? "≤ " : "") + formula, chosen === i ? "strong" : "");
    if (view.hide && i) return;
    if (i) { // connect the end of the bar above with this bar, without crossing the formula
      const x = plot.px(before), from = y - row * 0.5 + 2 + bar, to = y + row * 0.5 + 2;
      const gap = x < 18 + (words.getComputedTextLength?.() || 7 * formula.length) ? [to - 20, to - 1] : [to, to];
      for (const [y1, y2] of [[from, gap[0]], [gap[1], to]]) {
        if (y2 > y1) view.add("line", { class: "line thin muted", x1: x, x2: x, y1, y2 });
      }
    }
    const kind = i === 0 ? "blue" : value < before - 1e-9 ? "orange" : "pale";
    view.add("rect", { class: `dot ${kind}`, x: a, y: y + row * 0.5 + 2, width: Math.max(b - a, 1), height: bar });
    view.text(b + 5, y + row * 0.5 + 2 + bar * 0.85, i ? `+${num(value - before, 3)}` : num(value, 3), i ? "muted" : "strong");
  });
  return plot;
};

// Draw a chain into any element, for a live cell that has just computed one.
export const waterfall = (element, chain) => {
  const root = svg("svg", { role: "img", class: "mf-waterfall" });
  const W = Math.max(element.clientWidth, 280), H = 34 * chain.lines.length + 56;
  const last = chain.lines.at(-1);
  root.setAttribute("aria-label", `${chain.title}: from ${num(chain.lines[0].value)} to ${num(last.value)} in ${chain.lines.length} lines`);
  root.setAttribute("width", W);
  root.setAttribute("height", H);
  element.replaceChildren(root);
  drawChain(new View(root, W, H), chain);
};

export const start = formulas => {
  window.ocoFigures = { waterfall, formulas };
  customElements.define("moving-figure", MovingFigure);
};
