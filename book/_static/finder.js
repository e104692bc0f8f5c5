// Ranks what the book holds: names before sections, statements before mentions, the reference last.
window.finder = (() => {
  'use strict';
  const SMALL = new Set('a an and are as at be by for from in is it of on or the to what with'.split(' '));
  const KIND = { Page: 1.6, Section: 1, Exercise: 0.75, Term: 0.7, Function: 0.45, Erratum: 0.55, Item: 1.05 };
  const base = text => text.toLowerCase().normalize('NFD').replace(/[\u0300-\u036f]/g, '').replace(/['’]s\b/g, '');
  const stem = word => /\d/.test(word) || word.length < 4 ? word
    : word.replace(/iz(e|ed|es|ing|ation|ations|er|ers)$/, 'is$1').replace(/(ies)$/, 'y').replace(/([^s])s$/, '$1')
      .replace(/([^aeiou])(ed|ing)$/, '$1').replace(/e$/, '');
  const words = text => (base(text).match(/\d+(?:\.\d+)+|[\p{L}\p{N}_]+/gu) || []).map(stem);
  const telling = text => words(text).filter(word => !SMALL.has(word));

  const prepare = index => {
    if (index.ready) return;
    index.ready = true;
    index.said = new Map();
    for (const [word, pairs] of Object.entries(index.words)) {
      const key = stem(base(word)), pages = index.said.get(key) || new Map();
      for (let i = 0; i < pairs.length; i += 2) pages.set(pairs[i], (pages.get(pairs[i]) || 0) + pairs[i + 1]);
      index.said.set(key, pages);
    }
    const number = new Map(index.pages.map((page, place) => [page, place]));
    index.entries.forEach(entry => {
      const full = /of Lecture|^Page|^Section/.test(`${entry.t}${entry.k}`) ? entry.t : `${entry.t} of ${entry.l}`;
      const named = entry.t.toLowerCase().startsWith(entry.k.toLowerCase()) || KIND[entry.k] ? full : `${entry.k} ${full}`;
      entry.name = new Set(telling(entry.t));
      entry.exact = new Set([entry.t, named, full, ...entry.m.split('; ')].map(text => telling(text).join(' ')).filter(Boolean));
      entry.terms = new Set(telling(entry.m));
      entry.where = new Set(telling(`${entry.k} ${entry.l}`));
      entry.text = new Set(telling(entry.x));
      entry.page = number.get(entry.p);
    });
    index.common = new Map();
    index.entries.forEach(entry => new Set([...entry.name, ...entry.terms, ...entry.text]).forEach(word =>
      index.common.set(word, (index.common.get(word) || 0) + 1)));
  };

  // How well one entry answers; a word that is nowhere near it costs the entry its place.
  const score = (entry, asked, index, unfinished) => {
    let sum = 0;
    for (const word of asked) {
      const rare = Math.log(1 + index.entries.length / (1 + (index.common.get(word) || 0)));
      const begins = set => word === unfinished && word.length > 2 && [...set].some(own => own.startsWith(word));
      const mentions = (index.said.get(word) || new Map()).get(entry.page) || 0;
      let best = 0;
      if (entry.name.has(word)) best = 6;
      else if (entry.terms.has(word)) best = 5;
      else if (begins(entry.name)) best = 4;
      else if (entry.where.has(word)) best = 2;
      else if (entry.text.has(word)) best = 2;
      else if (begins(entry.terms)) best = 2;
      if (entry.k === 'Page' && mentions) best += Math.min(1.5, 0.3 * Math.log(1 + mentions)) + (best ? 0 : 0.4);
      if (!best) return 0;
      sum += best * rare;
    }
    const phrase = asked.join(' ');
    if (entry.exact.has(phrase)) sum += 60;
    else if ([...entry.exact].some(own => ` ${own} `.includes(` ${phrase} `))) sum += 8 * asked.length;
    sum /= 1 + 0.06 * Math.max(0, entry.name.size - asked.length);
    return sum * (KIND[entry.k] || 1.2);
  };

  const find = (text, index) => {
    prepare(index);
    const asked = telling(text), plain = ` ${base(text).replace(/[^\p{L}\p{N}.]+/gu, ' ').trim()} `;
    if (!asked.length) return [];
    const queries = [asked];
    for (const [name, other] of Object.entries(index.same))
      if (plain.includes(` ${name} `)) queries.push(telling(plain.replace(` ${name} `, ` ${other} `)));
    const unfinished = /[\p{L}]$/u.test(text) ? asked[asked.length - 1] : null;
    return index.entries
      .map(entry => ({ entry, score: Math.max(...queries.map((query, i) => (i ? 0.95 : 1) * score(entry, query, index, unfinished))) }))
      .filter(result => result.score > 0)
      .sort((a, b) => b.score - a.score);
  };

  const make = (tag, name, text) => Object.assign(document.createElement(tag), { className: name, textContent: text });
  const show = ({ entry }, root) => {
    const line = document.createElement('li'), link = document.createElement('a');
    link.href = root + entry.p + (entry.a ? '#' + entry.a : '');
    const title = make('span', 'title', entry.t);
    if (entry.h) title.innerHTML = entry.h; // made by the build from the book's own words
    link.append(make('span', 'what', [entry.k, entry.l].filter(Boolean).join(' · ')), title);
    if (entry.s) {
      const says = make('span', 'says', '');
      says.innerHTML = entry.s;
      link.append(says);
    }
    line.append(link);
    return line;
  };
  return { find, show };
})();
