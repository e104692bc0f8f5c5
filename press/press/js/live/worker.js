// The worker: start Python with NumPy and the packages of the book, then run one cell after another. The build
// replaces BOOT by boot.py, and so on. The page joins this script with Pyodide and starts both as a blob, so
// that the security policy of the page applies to the worker too.
import { loadPart } from "./store.js";
import { StopButton } from "./interrupt.js";
import { seal } from "./seal.js";

const PACKAGES = "/lib/python3.11/site-packages";
// Pyodide requires a list of its packages; we use none.
const LOCK = JSON.stringify({
  info: { version: "0.24.1", arch: "wasm32", platform: "emscripten_3_1_45", python: "3.11.3" },
  packages: {},
});
const stop = new StopButton();
let python; // the module boot.py
let started = false; // once: code in a cell can send messages too, and starting loads files

const tell = (type, rest) => self.postMessage({ type, ...rest });

/** Answer Pyodide's fetches by name with the verified parts, and refuse all others. */
function serve(files) {
  self.fetch = async (address) => {
    const name = String(address.url ?? address).split("/").pop();
    if (!(name in files)) throw new TypeError(`${name} is not part of this page`);
    const type = name.endsWith(".wasm") ? "application/wasm" : "application/octet-stream";
    return new Response(await files[name], { headers: { "Content-Type": type } });
  };
}

async function start({ base, parts }) {
  started = true;
  const load = (name) => loadPart(base, parts[name], (bytes) => tell("bytes", { bytes }));
  const [numpy, packages, wasm, stdlib] = ["numpy", "packages", "wasm", "stdlib"].map(load);
  serve({ "pyodide.asm.wasm": wasm, "python_stdlib.zip": stdlib, "pyodide-lock.json": LOCK });
  const all = Promise.all([numpy, packages, wasm, stdlib]); // rejects if a part is missing; Pyodide alone would wait indefinitely
  const pyodide = await Promise.race([loadPyodide({ indexURL: base }), all.then(() => new Promise(() => {}))]);
  tell("stage", { text: "Starting Python" });
  for (const part of [await numpy, await packages]) pyodide.unpackArchive(part, "zip", { extractDir: PACKAGES });
  pyodide.registerJsModule("js_live", { post: (kind, text) => tell("output", { kind, text }) });
  pyodide.FS.writeFile(`${PACKAGES}/live_boot.py`, BOOT);
  pyodide.FS.writeFile(`${PACKAGES}/live_depends.py`, DEPENDS);
  pyodide.FS.writeFile(`${PACKAGES}/live_svgplot.py`, SVGPLOT);
  pyodide.FS.writeFile(`${PACKAGES}/live_hook.py`, HOOK);
  python = pyodide.pyimport("live_boot");
  python.adapt();
  pyodide.setInterruptBuffer(stop.buffer);
  seal(self);
  tell("ready", {});
}

function run({ source, name, exercise, above, setting, address }) {
  stop.watch(address);
  const began = performance.now();
  try {
    const end = python.run(source, name, exercise, above, setting);
    tell("done", { end, milliseconds: performance.now() - began });
  } catch (error) {
    tell("fatal", { message: String(error.message ?? error) });
  } finally {
    stop.watch(null);
  }
}

self.onmessage = ({ data }) => {
  if (data.type === "run") run(data);
  if (data.type === "forget") python?.forget();
  if (data.type === "needs") tell("needs", { numbers: JSON.parse(python.needs(data.source, data.cells)) });
  if (data.type === "members") tell("members", { members: JSON.parse(python.members(data.path)) });
  if (data.type === "start" && !started) start(data).catch((error) => tell("fatal", { message: String(error.message ?? error) }));
};
