// The download button: the notebook with the address of this site in its first cell and in its links.
(() => {
  'use strict';
  const ADDRESS = /^address = ".*"$/m;
  const LINKS = /\]\((?!\w+:)([^)\s]+)\.ipynb(#[^)\s]*)?\)/g;
  const FILE = 'This book was opened from a file, so your browser may show the notebook instead of saving it. '
    + 'Save the link, or take all notebooks.';

  const addressed = (notebook, wheel) => {
    const change = (cell, work) => { cell.source = work([cell.source].flat().join('')); };
    change(notebook.cells[0], text => text.replace(ADDRESS, () => `address = "${wheel}"`));
    for (const cell of notebook.cells.filter(cell => cell.cell_type === 'markdown')) {
      change(cell, text => text.replace(LINKS, (_, page, place = '') =>
        `](${new URL(`${page}.html${place}`, location.href)})`));
    }
    return notebook;
  };

  const save = (text, name) => {
    const address = URL.createObjectURL(new Blob([text], { type: 'application/x-ipynb+json' }));
    Object.assign(document.createElement('a'), { href: address, download: name }).click();
    setTimeout(() => URL.revokeObjectURL(address), 60000);
  };

  const download = async link => {
    const answer = await fetch(link.href);
    if (!answer.ok) throw new Error(answer.status);
    const notebook = addressed(await answer.json(), new URL(link.dataset.wheel, location.href).href);
    save(`${JSON.stringify(notebook, null, 1)}\n`, link.href.split('/').pop());
  };

  document.querySelectorAll('a[data-wheel]').forEach(link => {
    if (location.protocol === 'file:') {
      link.after(Object.assign(document.createElement('small'), { textContent: ` ${FILE}` }));
      return;
    }
    link.addEventListener('click', event => {
      event.preventDefault();
      download(link).catch(() => { location.href = link.href; }); // better without an address than not at all
    });
  });
})();
