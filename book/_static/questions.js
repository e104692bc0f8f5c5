// Quick questions, hints and proof exercises. All of it is in the page already, folded; this script asks first
// and answers one choice at a time. What was solved is kept where the exercises keep it (live/memory.js).
(() => {
  'use strict';
  const DONE = 'ocolib:done:', HINTS = 'ocolib:hints:', EDIT = 'ocolib:edit:';
  const attempt = (action, otherwise) => { try { return action(); } catch { return otherwise; } };
  const read = key => attempt(() => localStorage.getItem(key), null);
  const write = (key, value) => attempt(() => localStorage.setItem(key, value));
  const make = (tag, properties = {}, ...children) => {
    const element = Object.assign(document.createElement(tag), properties);
    element.append(...children);
    return element;
  };
  const button = (label, onClick) => {
    const element = make('button', { type: 'button', textContent: label, className: 'ask-button' });
    element.addEventListener('click', onClick);
    return element;
  };
  const status = () => {
    const element = make('div', { className: 'ask-verdict' });
    element.setAttribute('role', 'status');
    return element;
  };
  /** A copy of what the page has written, without its addresses. */
  const copies = element => {
    const copy = element.cloneNode(true);
    copy.querySelectorAll('[id]').forEach(part => part.removeAttribute('id'));
    return copy;
  };
  const say = (place, right, words, ...more) => {
    place.classList.toggle('ask-right', right);
    place.replaceChildren(make('p', { textContent: `${right ? '✓' : '✗'} ${words}` }), ...more);
  };

  const solve = name => {
    if (read(DONE + name) === null) write(DONE + name, new Date().toISOString().slice(0, 10));
    const box = document.getElementById(name);
    if (box) tick(box);
  };
  const tick = box => {
    const head = box.querySelector('.box-head, .admonition-title');
    if (head && !head.querySelector('.ask-tick, .live-tick:not(:empty)') && read(DONE + box.id) !== null) {
      head.append(make('span', { className: 'ask-tick', textContent: ' ✓ solved' }));
    }
  };

  /** Radio buttons: the answer to the one that is chosen. */
  const choose = (box, onRight) => {
    const radios = [...box.querySelectorAll('input[type=radio]')];
    const fold = box.querySelector('details.answers'), answers = [...fold.querySelectorAll(':scope > .answer')];
    const verdict = status();
    const check = button('Check', () => {
      const place = radios.findIndex(radio => radio.checked);
      if (place < 0) return say(verdict, false, 'Choose one first.');
      const right = 'right' in answers[place].dataset;
      say(verdict, right, answers[place].querySelector('strong:last-of-type').textContent, copies(answers[place].querySelector('.why')));
      if (right) { fold.hidden = false; onRight(); }
    });
    fold.hidden = true;
    fold.before(check, verdict);
  };

  /** "5,5", "−1/2", "1e-3" as a number, else NaN. */
  const numberOf = text => {
    const [over, under = '1', ...rest] = text.trim().replace(/−/g, '-').replace(/,/g, '.').split('/');
    return rest.length || !over || !under ? NaN : Number(over) / Number(under);
  };
  const number = (box, onRight) => {
    const field = box.querySelector('.field'), input = field.querySelector('input'), fold = box.querySelector('details.answers');
    const answers = [...fold.querySelectorAll(':scope > .answer')], verdict = status();
    const { answer, tolerance } = field.dataset;
    const near = (a, b) => Math.abs(a - b) <= Number(tolerance) * (1 + 1e-9);
    const check = () => {
      const given = numberOf(input.value);
      if (!Number.isFinite(given)) return say(verdict, false, 'Write a number first, such as 2.5 or 1/3.');
      const right = near(given, Number(answer));
      const found = right ? answers.find(one => 'right' in one.dataset) : answers.find(one => 'number' in one.dataset && near(given, Number(one.dataset.number)));
      say(verdict, right, right ? 'Right.' : 'Not this number.', ...(found ? [copies(right ? found : found.querySelector('.why'))] : []));
      if (right) onRight();
      if (right) fold.hidden = false;
    };
    input.addEventListener('keydown', event => { if (event.key === 'Enter') { event.preventDefault(); check(); } });
    field.append(button('Check', check));
    fold.hidden = true;
    fold.before(verdict);
  };

  /** Lines that move up and down. */
  const order = (work, onRight) => {
    const list = work.querySelector('ol.order'), fold = work.querySelector('details.answers'), verdict = status();
    const lines = () => [...list.children];
    const move = (line, step) => {
      const place = lines().indexOf(line), other = lines()[place + step];
      if (!other) return;
      if (step < 0) other.before(line); else other.after(line);
      verdict.replaceChildren(make('p', { className: 'visually-hidden', textContent: `Now line ${place + step + 1}.` }));
    };
    lines().forEach(line => {
      const tools = make('span', { className: 'order-tools' });
      for (const [sign, step, words] of [['↑', -1, 'Move this line up'], ['↓', 1, 'Move this line down']]) {
        const tool = button(sign, () => { move(line, step); tool.focus(); });
        tool.setAttribute('aria-label', words);
        tool.title = words;
        tools.append(tool);
      }
      line.prepend(tools);
    });
    const check = button('Check', () => {
      const wrong = lines().findIndex((line, place) => Number(line.dataset.place) !== place);
      if (wrong < 0) { say(verdict, true, 'This is the proof.'); fold.hidden = false; return onRight(); }
      say(verdict, false, wrong ? `Right up to line ${wrong}; another line comes next.` : 'The proof begins with another line.');
    });
    fold.hidden = true;
    fold.before(check, verdict);
  };

  /** A proof in the reader's own words, and the rubric beside it. */
  const rubric = (work, name, onRight) => {
    const text = work.querySelector('textarea'), ticks = [...work.querySelectorAll('.rubric input')];
    text.value = read(EDIT + name) ?? '';
    text.addEventListener('input', () => write(EDIT + name, text.value));
    ticks.forEach(one => one.addEventListener('change', () => { if (ticks.every(other => other.checked)) onRight(); }));
  };

  /** Hints open one after the other; how many were opened is remembered. */
  const hints = box => {
    const key = HINTS + box.dataset.exercise, folds = [...box.querySelectorAll('details.hint-fold')];
    let used = Math.min(Number(read(key)) || 0, folds.length);
    const show = () => folds.forEach((fold, place) => { fold.hidden = place > used; });
    folds.forEach((fold, place) => fold.addEventListener('toggle', () => {
      if (!fold.open || place < used) return;
      used = place + 1;
      write(key, String(used));
      show();
    }));
    show();
  };

  const begin = () => {
    document.querySelectorAll('.quick').forEach(box => {
      (box.classList.contains('number') ? number : choose)(box, () => solve(box.id));
      tick(box);
    });
    document.querySelectorAll('.proof-work').forEach(work => {
      const box = work.closest('.admonition'), solved = () => solve(box.id);
      if (work.classList.contains('proof-order')) order(work, solved);
      else if (work.classList.contains('proof-rubric')) rubric(work, box.id, solved);
      else {
        const parts = [...work.querySelectorAll(':scope > .choose')], open = new Set(parts);
        parts.forEach(part => choose(part, () => { open.delete(part); if (!open.size) solved(); }));
      }
      tick(box);
    });
    document.querySelectorAll('.hints').forEach(hints);
  };
  if (document.readyState === 'loading') document.addEventListener('DOMContentLoaded', begin);
  else begin();
})();
