// Draw each [SVG, file] as PNG with resvg, using the fonts listed in the jobs: node draw.mjs jobs.json
import { readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";

const { packages, fonts, cards } = JSON.parse(readFileSync(process.argv[2], "utf8"));
const { Resvg, initWasm } = createRequire(`${packages}/`)("@resvg/resvg-wasm");
await initWasm(readFileSync(`${packages}/@resvg/resvg-wasm/index_bg.wasm`));
const font = { fontBuffers: fonts.map(file => readFileSync(file)), defaultFontFamily: "Companion Sans", sansSerifFamily: "Companion Sans" };
for (const [svg, file] of cards) writeFileSync(file, new Resvg(svg, { font }).render().asPng());
