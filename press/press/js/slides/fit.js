// Run once, when the slides are made: scale each slide up or down to fill its frame, and split it if it would
// have to shrink below LEGIBLE, where text becomes smaller than 18 px.
async ({ height }) => {
  const MOST = 1.24, LEGIBLE = 0.9, LEAST = 0.62, FOOT = 44, HEAD = '.box-head, .admonition-title, .claim, h1, h2, thead, caption, colgroup, .exercise-facts';
  document.documentElement.classList.add('measuring');
  // Load everything that has a size before measuring: fonts (browsers load them late) and images.
  await Promise.allSettled([...document.fonts].map(face => face.load()));
  await Promise.all([...document.images].map(image => image.decode()));
  const fits = slide => {
    const body = slide.querySelector('.fit');
    const bottom = body.getBoundingClientRect().bottom - slide.getBoundingClientRect().top;
    const inside = slide.scrollHeight <= slide.clientHeight && body.scrollWidth <= body.clientWidth + 1;
    return inside && bottom <= height - FOOT;
  };
  const shrink = (slide, least) => {
    const body = slide.querySelector('.fit');
    if (slide.matches('[data-kind=moving]')) return true; // interactive figures already have the height of the frame
    body.style.zoom = least;
    if (!fits(slide)) return false;
    for (let scale = MOST; scale > least; scale -= 0.02) {
      body.style.zoom = scale.toFixed(2);
      if (fits(slide)) return true;
    }
    body.style.zoom = least;
    return true;
  };
  const parts = element => [...element.children].filter(child => !child.matches(HEAD));
  // Return the first element with several parts: a box, a table or a cell. Do not split a sentence.
  const sentence = element => [...element.childNodes].some(node => node.nodeType === 3 && node.data.trim());
  const many = slide => {
    let element = slide.querySelector('.fit');
    while (parts(element).length === 1 && !sentence(parts(element)[0])) [element] = parts(element);
    return element;
  };
  const split = slide => {
    slide.classList.add('measured'); // only this slide is laid out
    const rest = fit(slide);
    slide.classList.remove('measured');
    if (rest) split(rest);
  };
  // Return a new slide with the parts that do not fit on this one, or null.
  const fit = slide => {
    if (shrink(slide, LEGIBLE)) return null;
    if (parts(many(slide)).length < 2) return void shrink(slide, LEAST); // cannot be split
    const rest = slide.cloneNode(true);
    rest.id += '-more';
    rest.classList.replace('measured', 'more');
    rest.querySelector('aside').replaceChildren();
    const here = parts(many(slide)), there = parts(many(rest));
    let kept = here.length;
    do { here[--kept].remove(); } while (kept > 1 && !shrink(slide, LEGIBLE));
    if (kept === 1) shrink(slide, LEGIBLE) || shrink(slide, LEAST);
    there.slice(0, kept).forEach(part => part.remove());
    slide.after(rest);
    return rest;
  };
  document.querySelectorAll('section.leaf').forEach(split);
  document.documentElement.classList.remove('measuring');
  return document.querySelector('.slides').innerHTML;
}
