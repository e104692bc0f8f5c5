// The worker's side: starts Python with NumPy and ocolib, then runs one cell after another.
// It is joined with Pyodide into one script and started as a blob, so that the page's policy binds it too.
import { loadPart } from "./store.js";
import { StopButton } from "./interrupt.js";

const PACKAGES = "/lib/python3.11/site-packages";
// Pyodide asks for a list of packages: there are none but ours.
const LOCK = JSON.stringify({
  info: { version: "0.24.1", arch: "wasm32", platform: "emscripten_3_1_45", python: "3.11.3" },
  packages: {},
});
const stop = new StopButton();
let runCell;

const tell = (type, rest) => self.postMessage({ type, ...rest });

/** Pyodide fetches by name: give it the parts that were checked, and nothing else. */
function serve(files) {
  self.fetch = async (address) => {
    const name = String(address.url ?? address).split("/").pop();
    if (!(name in files)) throw new TypeError(`${name} is not part of this page`);
    const type = name.endsWith(".wasm") ? "application/wasm" : "application/octet-stream";
    return new Response(await files[name], { headers: { "Content-Type": type } });
  };
}

async function start({ base, parts }) {
  const load = (name) => loadPart(base, parts[name], (bytes) => tell("bytes", { bytes }));
  const [numpy, ocolib, wasm, stdlib] = ["numpy", "ocolib", "wasm", "stdlib"].map(load);
  serve({ "pyodide.asm.wasm": wasm, "python_stdlib.zip": stdlib, "pyodide-lock.json": LOCK });
  const all = Promise.all([numpy, ocolib, wasm, stdlib]); // rejects if one is missing; Pyodide would wait for ever
  const python = await Promise.race([loadPyodide({ indexURL: base }), all.then(() => new Promise(() => {}))]);
  tell("stage", { text: "Starting Python" });
  for (const part of [await numpy, await ocolib]) python.unpackArchive(part, "zip", { extractDir: PACKAGES });
  python.registerJsModule("js_live", { post: (kind, text) => tell("output", { kind, text }) });
  python.FS.writeFile(`${PACKAGES}/live_boot.py`, BOOT);
  const module = python.pyimport("live_boot");
  module.adapt();
  python.setInterruptBuffer(stop.buffer);
  runCell = module.run;
  tell("ready", {});
}

function run({ source, name, exercise, address }) {
  stop.watch(address);
  const began = performance.now();
  try {
    const end = runCell(source, name, exercise);
    tell("done", { end, milliseconds: performance.now() - began });
  } catch (error) {
    tell("fatal", { message: String(error.message ?? error) });
  } finally {
    stop.watch(null);
  }
}

self.onmessage = ({ data }) => {
  if (data.type === "run") run(data);
  if (data.type === "start") start(data).catch((error) => tell("fatal", { message: String(error.message ?? error) }));
};
