// Run once, when the slides are made: each fills its frame and no more, larger, smaller, or in parts. Below LEGIBLE letters would be smaller than 18 px.
async ({ height }) => {
  const MOST = 1.24, LEGIBLE = 0.9, LEAST = 0.62, FOOT = 44, HEAD = '.box-head, .admonition-title, .claim, h1, h2, thead, caption, colgroup, .exercise-facts';
  document.documentElement.classList.add('measuring');
  document.body.getBoundingClientRect(); // letters are fetched for what is laid out
  await document.fonts.ready;
  const fits = slide => {
    const body = slide.querySelector('.fit');
    const bottom = body.getBoundingClientRect().bottom - slide.getBoundingClientRect().top;
    return bottom <= height - FOOT && body.scrollWidth <= body.clientWidth + 1;
  };
  const shrink = (slide, least) => {
    const body = slide.querySelector('.fit');
    if (slide.matches('.moving')) return true; // it has the height of its frame
    for (let scale = MOST; scale >= least; scale -= 0.02) {
      body.style.zoom = scale.toFixed(2);
      if (fits(slide)) return true;
    }
    return false;
  };
  const parts = element => [...element.children].filter(child => !child.matches(HEAD));
  // Down to the first element with several parts: a box, a table, a cell.
  const many = slide => {
    let element = slide.querySelector('.fit');
    while (parts(element).length === 1) [element] = parts(element);
    return element;
  };
  const split = slide => {
    if (shrink(slide, LEGIBLE)) return;
    if (parts(many(slide)).length < 2) return void shrink(slide, LEAST); // it cannot be split
    const rest = slide.cloneNode(true);
    rest.id += '-more';
    rest.classList.add('more');
    rest.querySelector('aside').replaceChildren();
    slide.after(rest);
    const here = parts(many(slide)), there = parts(many(rest));
    let kept = here.length;
    do { here[--kept].remove(); } while (kept > 1 && !shrink(slide, LEGIBLE));
    if (kept === 1) shrink(slide, LEGIBLE) || shrink(slide, LEAST);
    there.slice(0, kept).forEach(part => part.remove());
    split(rest);
  };
  document.querySelectorAll('section.leaf').forEach(split);
  document.documentElement.classList.remove('measuring');
  return document.querySelector('.slides').innerHTML;
}
