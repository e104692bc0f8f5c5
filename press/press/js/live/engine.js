// Run Python from the page: one worker, one namespace, one cell at a time.
import { loadPart, tidy } from "./store.js";
import { make } from "./dom.js";
import { SCRIPT } from "./here.js";

const PATIENCE = 2000; // milliseconds after Stop before Python is ended

/** Explain an error of Python itself. */
function plainly(message) {
  if (/memory|allocat|out of bounds/i.test(message)) {
    return "Python ran out of memory and was ended. Its variables are gone.";
  }
  if (/call stack|recursion|stack overflow/i.test(message)) {
    return "The calls were nested too deeply for the browser, and Python was ended. Its variables are gone.";
  }
  return `Python was ended: ${message}`;
}

export class Engine {
  /** `runtime` is {base, parts}: where the parts are, and their checksums. */
  constructor(runtime) {
    this.runtime = runtime;
    this.worker = null;
    this.current = null; // the running cell: {resolve, onOutput, address, timer}
  }

  /** Start Python unless it is running. Calls `onProgress(text, loaded, total)` while it loads. */
  start(onProgress) {
    let failed = false; // later progress must not overwrite the reason
    this.ready ??= this.boot((...how) => failed || onProgress(...how)).catch((error) => {
      failed = true;
      this.end();
      throw error;
    });
    return this.ready;
  }

  async boot(onProgress) {
    const { base, parts } = this.runtime;
    const needed = ["engine", "worker", "wasm", "stdlib", "numpy", "packages"];
    const total = needed.reduce((sum, name) => sum + parts[name].bytes, 0);
    let loaded = 0;
    const count = (bytes) => onProgress("Loading Python", (loaded += bytes), total);
    const script = await Promise.all(["engine", "worker"].map((name) => loadPart(base, parts[name], count)));
    const address = URL.createObjectURL(new Blob(script, { type: "text/javascript" }));
    const worker = (this.worker = new Worker(address));
    await new Promise((resolve, reject) => {
      worker.onerror = (event) => reject(new Error(event.message || "the worker did not start"));
      worker.onmessage = ({ data }) => {
        if (data.type === "bytes") count(data.bytes);
        if (data.type === "stage") onProgress(data.text, total, total);
        if (data.type === "ready") resolve();
        if (data.type === "fatal") reject(new Error(data.message));
      };
      worker.postMessage({ type: "start", base, parts });
    });
    URL.revokeObjectURL(address);
    worker.onmessage = ({ data }) => this.hear(data);
    this.isReady = true;
    worker.onerror = (event) => this.lose(plainly(event.message || "it gave no reason"));
    tidy(base, parts).catch(() => {});
  }

  /** Run a cell; resolve to {end: "ok" | "error" | "stopped", milliseconds} or, if Python had to be ended, to
   *  {end: "lost", lost: sentence}. */
  run({ source, name, exercise, above, setting }, onOutput) {
    return new Promise((resolve) => {
      const address = URL.createObjectURL(new Blob(["go on"])); // Stop revokes it: see interrupt.js
      this.current = { resolve, onOutput, address };
      this.worker.postMessage({ type: "run", source, name, exercise, above, setting: JSON.stringify(setting), address });
    });
  }

  /** Return the numbers of those of the cells, [[number, code], …], that this code builds on. */
  needs(source, cells) {
    return new Promise((resolve) => {
      this.asking = resolve;
      this.worker.postMessage({ type: "needs", source, cells: JSON.stringify(cells) });
    });
  }

  /** Return the attributes of a dotted path, [[name, kind], …]; empty while Python is not ready or busy. */
  members(path) {
    if (!this.isReady || this.current) return Promise.resolve([]);
    return new Promise((resolve) => {
      this.wanted?.([]);
      this.wanted = resolve;
      this.worker.postMessage({ type: "members", path });
    });
  }

  /** Delete all variables. */
  forget() {
    this.worker?.postMessage({ type: "forget" });
  }

  stop() {
    if (!this.current || this.current.timer) return;
    URL.revokeObjectURL(this.current.address);
    this.current.timer = setTimeout(
      () => this.lose("The cell did not stop within two seconds, so Python was ended. Its variables are gone."),
      PATIENCE,
    );
  }

  hear(data) {
    if (data.type === "needs") this.asking?.(data.numbers);
    if (data.type === "members") this.wanted?.(data.members);
    if (!this.current) return;
    if (data.type === "output") this.current.onOutput(data.kind, data.text);
    if (data.type === "done") this.finish({ end: data.end, milliseconds: data.milliseconds });
    if (data.type === "fatal") this.lose(plainly(data.message));
  }

  finish(outcome) {
    const { resolve, address, timer } = this.current;
    clearTimeout(timer);
    URL.revokeObjectURL(address);
    this.current = null;
    resolve(outcome);
  }

  lose(sentence) {
    this.end();
    this.asking?.([]);
    this.wanted?.([]);
    if (this.current) this.finish({ end: "lost", lost: sentence });
  }

  end() {
    this.worker?.terminate();
    this.worker = this.ready = null;
    this.isReady = false;
  }
}

const loads = {};

function loadScript(what, properties) {
  loads[what] ??= new Promise((resolve, reject) => {
    const script = make("script", properties);
    script.onload = resolve;
    script.onerror = () => reject(new Error(`${what} could not be loaded`));
    document.head.append(script);
  });
  return loads[what];
}

/** Load the editor's script, on the first edit. */
export async function loadEditor({ base, parts }) {
  const integrity = `sha256-${btoa(parts.editor.sha256.replace(/../g, (pair) => String.fromCharCode(parseInt(pair, 16))))}`;
  await loadScript("the editor", { src: base + parts.editor.name, integrity });
  return globalThis.LiveEditor;
}

/** Load the kernel of the interactive figures, which also draws chains, unless the page already has it. */
export async function loadFigures() {
  if (globalThis.ocoFigures) return globalThis.ocoFigures;
  document.head.append(make("link", { rel: "stylesheet", href: new URL("figures/figures.css", SCRIPT).href }));
  await loadScript("the figures", { src: new URL(CHAINS, SCRIPT).href });
  return globalThis.ocoFigures;
}
