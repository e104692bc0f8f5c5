// Small services for a reader: focus that stays, search on demand, a filter, formulas to explore.
(() => {
  'use strict';
  const root = document.documentElement.dataset.content_root || './';
  const load = source => new Promise((done, failed) => {
    const script = document.createElement('script');
    Object.assign(script, { src: root + source, onload: done, onerror: failed });
    document.head.append(script);
  });

  // The theme takes the focus from its buttons; give it back to whoever works with the keyboard.
  const BUTTONS = '.theme-switch-button, .search-button, .primary-toggle, .secondary-toggle';
  const keepFocus = () => document.addEventListener('click', event => {
    const button = event.target.closest(BUTTONS);
    setTimeout(() => { if (button && document.activeElement === document.body) button.focus({ preventScroll: true }); });
  }, true);

  // The sidebar shows where one is, also in a fresh tab and when it opens on a phone.
  const showPlace = () => {
    const here = document.querySelector('.bd-links .part a.current'), box = here?.closest('.bd-sidebar-primary, dialog');
    if (!here || !box.clientHeight) return;
    const inner = here.getBoundingClientRect(), outer = box.getBoundingClientRect();
    if (inner.top < outer.top + 130 || inner.bottom > outer.bottom) box.scrollTop += inner.top - outer.top - outer.height / 3;
  };
  const keepPlace = () => {
    const soon = () => requestAnimationFrame(() => setTimeout(showPlace)); // after the theme, which puts it where it was
    if (document.readyState === 'complete') soon(); else window.addEventListener('load', soon);
    document.addEventListener('click', event => { if (event.target.closest('.primary-toggle')) setTimeout(showPlace, 50); });
  };

  // A link leads to its place, though what lies above it is laid out only now and grows: until the reader moves, go there again.
  const stayAtTarget = () => {
    let left = false;
    const leave = () => { left = true; };
    for (const name of ['wheel', 'touchstart', 'pointerdown', 'keydown']) addEventListener(name, leave, { passive: true });
    const again = () => {
      const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
      left = false;
      for (const wait of target ? [0, 150, 400, 900] : []) setTimeout(() => { if (!left) target.scrollIntoView({ behavior: 'instant' }); }, wait);
    };
    if (performance.getEntriesByType('navigation')[0]?.type === 'navigate') window.addEventListener('load', again);
    document.addEventListener('click', event => {
      const link = event.target.closest?.('a[href*="#"]');
      if (link && link.pathname === location.pathname) setTimeout(() => { if (link.hash === location.hash) again(); });
    });
  };

  // Mark the section being read in the contents: the last one that begins above a line at 35 % of the window,
  // which moves to the bottom near the end of the page. Measure only top-level sections and those inside the
  // current one, because the browser lays out distant sections late.
  const markSection = () => {
    const links = [...document.querySelectorAll('#pst-page-toc-nav a[href^="#"]')];
    const places = new Map(links.map(link => [document.getElementById(decodeURIComponent(link.hash.slice(1))), link]));
    const parent = place => { do place = place.parentElement; while (place && !places.has(place)); return place; };
    places.delete(null);
    let clicked = 0, waiting = false;
    const mark = now => links.forEach(link => {
      link.classList.toggle('active', link === now);
      if (link === now) link.setAttribute('aria-current', 'true'); else link.removeAttribute('aria-current');
    });
    const look = () => {
      waiting = false;
      if (performance.now() - clicked < 1000) return;
      const left = document.documentElement.scrollHeight - innerHeight - scrollY;
      const line = Math.max(0.35 * innerHeight, innerHeight - left);
      let now = null, inside = [...places.keys()].filter(place => !parent(place));
      while (inside.length) {
        const begun = inside.filter(place => place.getBoundingClientRect().top < line).pop();
        now = begun ?? now;
        inside = begun ? [...places.keys()].filter(place => parent(place) === begun) : [];
      }
      mark(places.get(now));
    };
    const soon = () => { if (!waiting) waiting = requestAnimationFrame(look); };
    if (!links.length) return;
    links.forEach(link => link.addEventListener('click', () => { clicked = performance.now(); mark(link); }));
    for (const name of ['scroll', 'resize']) addEventListener(name, soon, { passive: true });
  };

  // Search: the index comes when the field is entered, as a script, so that it works from a file too.
  const found = {};
  const index = () => found.book ??= Promise.all([load('_static/finder.js'), load('_static/finder-index.js')])
    .then(() => window.finder.prepare(window.finderIndex)).then(book => { found.ready = true; return book; });
  const search = async (form, input, list, status) => {
    const words = input.value.trim();
    if (!words) { list.replaceChildren(); status.textContent = ''; return; }
    let book;
    if (!found.ready) status.textContent = 'Searching …';
    try { book = await index(); } catch {
      status.textContent = 'Search could not be loaded. The concordance lists every item of the lectures.';
      return;
    }
    if (input.value.trim() !== words) return;
    const results = window.finder.find(words, book).slice(0, 30);
    list.replaceChildren(...results.map(result => window.finder.show(result, root)));
    status.textContent = results.length ? '' : `Nothing found for “${words}”.`;
  };
  const prepareSearch = () => document.querySelectorAll('form.bd-search').forEach(form => {
    const input = form.querySelector('input'), list = form.parentElement.querySelector('.finder');
    const status = form.parentElement.querySelector('.finder-status');
    input.addEventListener('input', () => search(form, input, list, status));
    input.addEventListener('focus', () => index().catch(() => {}));
    form.addEventListener('submit', event => {
      const first = list.querySelector('a');
      if (first) { event.preventDefault(); first.click(); }
    });
    form.parentElement.addEventListener('keydown', event => {
      const stops = [input, ...list.querySelectorAll('a')], place = stops.indexOf(document.activeElement);
      const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
      if (!step || place < 0) return;
      event.preventDefault();
      stops[Math.max(0, Math.min(stops.length - 1, place + step))].focus();
    });
    if (form.closest('dialog')) return;
    input.value = new URLSearchParams(location.search).get('q') || '';
    search(form, input, list, status);
    input.focus();
  });

  // The concordance: what checks a row is fetched when a fold is opened or the filter entered, as a script like the index.
  const checks = {};
  const fillChecks = () => checks.come ??= load('_static/checks.js').then(() => {
    document.querySelectorAll('table.concordance tr[id]').forEach(row => {
      const fold = row.querySelector('.concordance-tests');
      const codes = (fold && window.checks[row.id] || []).map(name => Object.assign(document.createElement('code'), { textContent: name }));
      fold?.append(...codes);
    });
  }).catch(() => { delete checks.come; });
  const prepareChecks = () => document.querySelectorAll('table.concordance .concordance-tests').forEach(fold =>
    fold.addEventListener('toggle', fillChecks));

  // The concordance: only the rows that hold every word.
  const prepareFilter = () => document.querySelectorAll('.filter').forEach(box => {
    const input = box.querySelector('input'), count = box.querySelector('output');
    const rows = [...document.querySelectorAll('table.concordance tbody tr')];
    let texts = rows.map(row => row.textContent.toLowerCase());
    input.addEventListener('focus', () => fillChecks().then(() => { texts = rows.map(row => row.textContent.toLowerCase()); }), { once: true });
    const sections = [...document.querySelectorAll('article section section')];
    input.addEventListener('input', () => {
      const words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
      let left = 0;
      rows.forEach((row, place) => {
        row.hidden = !words.every(word => texts[place].includes(word));
        left += !row.hidden;
      });
      sections.forEach(section => { section.hidden = !section.querySelector('table.concordance tbody tr:not([hidden])'); });
      count.textContent = words.length ? `${left} of ${rows.length}` : '';
      if (words.length) document.querySelectorAll('article details').forEach(part => { if (part.querySelector('tr')) part.open = true; });
    });
  });

  // Formulas are pictures of letters with MathML behind them. Whoever asks gets MathJax itself, which
  // lets the keyboard walk through a formula and speaks each part.
  const explore = async button => {
    button.disabled = true;
    button.textContent = 'Fetching the explorer …';
    document.querySelectorAll('mjx-container').forEach(formula => {
      const math = formula.querySelector('mjx-assistive-mml > math');
      if (math) formula.replaceWith(math);
    });
    window.MathJax = {
      loader: { load: ['a11y/semantic-enrich', 'a11y/explorer'], paths: { mathjax: new URL(root + '_static/mathjax', location.href).href } },
      options: { sre: { json: new URL(root + '_static/mathjax/sre/mathmaps', location.href).href }, a11y: { speech: true, subtitles: true, magnification: 'None' } },
    };
    await load('_static/mathjax/mml-chtml.js');
    await window.MathJax.startup.promise;
    button.textContent = 'Formulas can be explored: tab to one, press Enter, use the arrows';
    button.setAttribute('aria-pressed', 'true');
  };

  // Signs of formulas far below are needed for printing, and at once when a reader comes there: fetch their fonts (16 kB) when all else is done.
  const fetchSigns = () => window.addEventListener('load', () => {
    const faces = [...document.fonts].filter(face => face.family.includes('MJX') && face.status === 'unloaded');
    if (document.querySelector('mjx-container')) setTimeout(() => faces.forEach(face => face.load().catch(() => {})), 300);
  });

  // The map: pointing at a page lights up what it uses and what uses it.
  const lightMap = () => document.querySelectorAll('svg.map a').forEach(page => {
    const paths = document.querySelectorAll(`svg.map path[data-ends~="${page.id}"]`);
    const turn = on => () => paths.forEach(path => path.classList.toggle('lit', on));
    for (const name of ['mouseenter', 'focus']) page.addEventListener(name, turn(true));
    for (const name of ['mouseleave', 'blur']) page.addEventListener(name, turn(false));
  });

  document.addEventListener('DOMContentLoaded', () => {
    keepFocus();
    keepPlace();
    stayAtTarget();
    markSection();
    prepareSearch();
    prepareFilter();
    prepareChecks();
    lightMap();
    fetchSigns();
    document.querySelectorAll('[data-print]').forEach(button => button.addEventListener('click', () => window.print()));
    document.querySelectorAll('[data-explore]').forEach(button => button.addEventListener('click', () => explore(button)));
  });
})();
