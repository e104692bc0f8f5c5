// Compile every .py below a folder to a .pyc beside it, with the same Python that will import it.
// node compile.mjs <Pyodide's folder> <folder> <0: keep everything | 2: drop docstrings and asserts>
import { createRequire } from "node:module";

const [pyodide, folder, optimise] = process.argv.slice(2);
const { loadPyodide } = createRequire(import.meta.url)(`${pyodide}/pyodide.js`);
const python = await loadPyodide({ indexURL: pyodide });
python.FS.mkdirTree("/source");
python.FS.mount(python.FS.filesystems.NODEFS, { root: folder }, "/source");
python.globals.set("optimise", Number(optimise));
python.runPython(`
import pathlib, py_compile

for path in sorted(pathlib.Path("/source").rglob("*.py")):
    py_compile.compile(
        str(path), cfile=f"{path}c", dfile=str(path.relative_to("/source")), doraise=True, optimize=optimise,
        invalidation_mode=py_compile.PycInvalidationMode.UNCHECKED_HASH,
    )
`);
