// Search the book. MiniSearch finds the entries; the ranking here puts statements whose name was asked for
// first, then pages, and the reference last. The index comes from press.sphinx.finder.
import MiniSearch from "minisearch";

const SMALL = new Set("a an and are as at be by for from in is it of on or the to what with".split(" "));
const KIND = { Page: 1.6, Section: 1, Exercise: 0.75, Term: 0.7, Function: 0.45, Erratum: 0.55, Item: 1.05 };
/** Return the weight of an entry; sections of the concordance only repeat the names of chapters. */
const weight = ({ k, p }) => (KIND[k] || 1.2) * (k === "Section" && p === "book/concordance.html" ? 0.4 : 1);
const WORD = /\d+(?:\.\d+)+|[\p{L}\p{N}_]+/gu;
const base = text => text.toLowerCase().normalize("NFD").replace(/[\u0300-\u036f]/g, "").replace(/['’]s\b/g, "");

/** Return a common form of British and American spellings, singular and plural. */
export const stem = word =>
  /\d/.test(word) || word.length < 4
    ? word
    : word
        .replace(/iz(e|ed|es|ing|ation|ations|er|ers)$/, "is$1")
        .replace(/ies$/, "y")
        .replace(/([^s])s$/, "$1")
        .replace(/([^aeiou])(ed|ing)$/, "$1")
        .replace(/e$/, "");
const telling = text => (base(text).match(WORD) || []).filter(word => !SMALL.has(word)).map(stem);

const FIELDS = { title: 6, terms: 5, where: 2, text: 2, said: 0.5 };

/** Return the names by which a reader may ask for an entry. */
function names(entry) {
  const full = /of Lecture|^Page|^Section/.test(`${entry.t}${entry.k}`) ? entry.t : `${entry.t} of ${entry.l}`;
  const named = entry.t.toLowerCase().startsWith(entry.k.toLowerCase()) || KIND[entry.k] ? full : `${entry.k} ${full}`;
  return [...new Set([entry.t, named, full, ...entry.m.split("; ")].map(text => telling(text).join(" ")))].filter(Boolean);
}

/** Fill the index in small portions, so that the page stays responsive. */
export async function prepare(index) {
  const said = index.pages.map(() => []);
  for (const [word, places] of Object.entries(index.words)) for (const place of places) said[place].push(word);
  const number = new Map(index.pages.map((page, place) => [page, place]));
  const engine = new MiniSearch({
    fields: Object.keys(FIELDS),
    tokenize: text => base(text).match(WORD) || [],
    processTerm: word => (SMALL.has(word) ? null : stem(word)),
  });
  await engine.addAllAsync(
    index.entries.map((entry, id) => ({
      id,
      title: entry.t,
      terms: entry.m,
      where: `${entry.k} ${entry.l}`,
      text: entry.x,
      said: entry.k === "Page" ? said[number.get(entry.p)].join(" ") : "",
    })),
    { chunkSize: 40 },
  );
  return { engine, entries: index.entries, names: index.entries.map(names), same: index.same };
}

/** Return the query, and variants with the book's own terms. */
function questions(text, same) {
  const plain = ` ${base(text).replace(/[^\p{L}\p{N}.]+/gu, " ").trim()} `;
  const others = Object.entries(same).filter(([name]) => plain.includes(` ${name} `));
  return [text, ...others.map(([name, other]) => plain.replace(` ${name} `, ` ${other} `))].map(telling);
}

export function find(text, book) {
  const asked = questions(text, book.same).filter(words => words.length);
  if (!asked.length) return [];
  const unfinished = /\p{L}$/u.test(text) ? asked[0].at(-1) : null;
  const look = fuzzy =>
    book.engine.search(
      { combineWith: "OR", queries: asked.map(words => ({ combineWith: "AND", queries: words })) },
      {
        tokenize: word => [word],
        processTerm: word => word,
        boost: FIELDS,
        prefix: word => word === unfinished && word.length > 2,
        fuzzy: word => fuzzy && word.length > 2 + fuzzy && !/\d/.test(word) && fuzzy,
        maxFuzzy: 2,
        boostDocument: id => weight(book.entries[id]),
      },
    );
  // allow no typo, then one wrong letter, then two (swapped letters count as two)
  let nearest = [];
  for (const slips of [0, 1, 2]) if ((nearest = look(slips)).length) break;
  const found = nearest.map(({ id, score, terms }) => {
    const entry = book.entries[id];
    const called = words => {
      const phrase = words.join(" ");
      if (book.names[id].includes(phrase)) return 1000;
      return book.names[id].some(own => ` ${own} `.includes(` ${phrase} `)) ? 20 * words.length : 0;
    };
    const extra = Math.max(...asked.map((words, place) => (place ? 0.95 : 1) * called(words)));
    return { entry, score: score + extra * weight(entry), terms: new Set(terms) };
  });
  return merged(found.sort((a, b) => b.score - a.score));
}

/** Merge results with the same name: the others are listed in the row of the first. */
function merged(found) {
  const rows = new Map();
  for (const result of found) {
    const key = telling(result.entry.t).join(" ");
    const first = rows.get(key);
    if (!first) rows.set(key, { ...result, also: [] });
    else if (first.also.length < 3) first.also.push(result.entry);
  }
  return [...rows.values()];
}

const make = (tag, name, text = "") => Object.assign(document.createElement(tag), { className: name, textContent: text });
const address = (entry, root) => root + entry.p + (entry.a ? "#" + entry.a : "");

/** Highlight the words of the query, except in formulas. */
function mark(element, terms) {
  const walk = document.createTreeWalker(element, NodeFilter.SHOW_TEXT);
  const texts = [];
  while (walk.nextNode()) if (!walk.currentNode.parentElement.closest("mjx-container")) texts.push(walk.currentNode);
  for (const text of texts) {
    const parts = text.data.split(/([\p{L}\p{N}_.]*[\p{L}\p{N}_])/u);
    if (parts.some(part => terms.has(stem(base(part))))) {
      text.replaceWith(...parts.map(part => (terms.has(stem(base(part))) ? make("mark", "", part) : part)));
    }
  }
}

/** Return a result as a list item. */
export function show({ entry, terms, also }, root) {
  const line = document.createElement("li");
  const link = document.createElement("a");
  link.href = address(entry, root);
  const title = make("span", "title", entry.t);
  if (entry.h) title.innerHTML = entry.h; // safe: made by the build from the book's own text
  link.append(make("span", "what", [entry.k, entry.l].filter(Boolean).join(" · ")), title);
  if (entry.s) {
    const says = make("span", "says");
    says.innerHTML = entry.s;
    link.append(says);
  }
  for (const part of link.querySelectorAll(".title, .says")) mark(part, terms);
  line.append(link);
  if (also.length) {
    const more = make("span", "also", "also: ");
    const label = one => [one.k, one.l].filter(Boolean).join(", ");
    also.forEach((other, place) => {
      const there = make("a", "", label(other));
      there.href = address(other, root);
      // links with the same label are told apart by what they say
      if (other.s && [entry, ...also].filter(one => label(one) === label(other)).length > 1) {
        there.append(": ", Object.assign(document.createElement("span"), { innerHTML: other.s }));
      }
      more.append(...(place ? [" · "] : []), there);
    });
    line.append(more);
  }
  return line;
}

window.finder = { prepare, find, show };
