// Typeset formulas with the book's own MathJax, under node. Reads a JSON list of [tex, display] from
// standard input; writes the markup and the width (in em) of each, and one style sheet for all.
const folder = process.argv[2];
const wanted = JSON.parse(require('fs').readFileSync(0, 'utf8'));

require(folder + '/node-main.js').init({
  loader: {
    paths: { mathjax: folder },
    load: ['adaptors/liteDOM', 'input/tex-full', 'output/chtml', 'a11y/assistive-mml'],
    versionWarnings: false,
  },
  chtml: { adaptiveCSS: true, fontURL: 'mathjax/output/chtml/fonts/woff-v2' },
  startup: { typeset: false },
}).then(MathJax => {
  const { adaptor, output } = MathJax.startup;
  let width = 0;
  output.processMath = function (math, parent) {
    const box = this.factory.wrap(math);
    box.toCHTML(parent);
    width = box.getBBox().w;
  };
  const set = wanted.map(([tex, display]) => {
    const markup = adaptor.outerHTML(MathJax.tex2chtml(tex, { display }));
    return [markup, Math.round(100 * width) / 100];
  });
  process.stdout.write(JSON.stringify({ set, css: adaptor.textContent(MathJax.chtmlStylesheet()) }));
}).catch(error => { console.error(error.stack || error); process.exit(1); });
