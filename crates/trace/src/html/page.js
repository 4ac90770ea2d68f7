'use strict';
// Filtering, unfolding, copying. The page can be read without any of it.
(() => {
  const tree = document.querySelector('.tree');
  const form = document.querySelector('form.tools');
  const field = form.querySelector('input');
  const told = form.querySelector('output');
  const folds = () => tree.querySelectorAll('details.scope, .step > details');
  form.hidden = false;
  form.addEventListener('submit', (event) => event.preventDefault());

  // Unfolds all that an element lies in.
  const unfold = (element) => {
    for (let at = element; at; at = at.parentElement) {
      if (at.localName === 'details') at.open = true;
    }
  };

  // A copy that can stand beside what it was taken from.
  const copyOf = (element) => {
    const copy = element.cloneNode(true);
    copy.removeAttribute('id');
    copy.querySelectorAll('[id]').forEach((part) => part.removeAttribute('id'));
    copy.querySelectorAll('.copied, button').forEach((part) => part.remove());
    return copy;
  };

  // The messages of a request by their numbers, those that stand in other requests included.
  const known = new Map();
  const messagesOf = (id) => {
    if (known.has(id)) return known.get(id);
    const rows = new Map();
    known.set(id, rows);
    const list = document.getElementById(id);
    for (const row of list ? list.children : []) {
      const link = row.classList.contains('same') ? row.querySelector('a') : null;
      if (!link) {
        rows.set(Number(row.dataset.n), row);
        continue;
      }
      const others = messagesOf(link.hash.slice(1));
      for (let n = Number(link.dataset.from); n <= Number(link.dataset.to); n += 1) {
        rows.set(n, others.get(n - Number(link.dataset.shift)));
      }
    }
    return rows;
  };

  // What a reference stands for.
  const meant = (link) => {
    const id = link.hash.slice(1);
    if (!link.dataset.from) {
      const block = document.getElementById(id);
      return block ? [block] : [];
    }
    const rows = messagesOf(id);
    const found = [];
    for (let n = Number(link.dataset.from); n <= Number(link.dataset.to); n += 1) {
      const row = rows.get(n - Number(link.dataset.shift));
      if (row) found.push(row);
    }
    return found;
  };

  // A reference shows in place what it stands for, and takes it away again.
  const show = (link) => {
    const shown = link.nextElementSibling;
    if (shown && shown.classList.contains('copied')) {
      shown.remove();
      link.setAttribute('aria-expanded', 'false');
      return;
    }
    const parts = meant(link);
    const isList = Boolean(link.dataset.from);
    const box = document.createElement(isList ? 'ol' : 'div');
    box.className = isList ? 'copied messages' : 'copied';
    parts.forEach((part) => box.append(copyOf(part)));
    link.after(box);
    link.setAttribute('aria-expanded', 'true');
  };

  const go = (hash) => {
    const target = hash.length > 1 ? document.getElementById(hash.slice(1)) : null;
    if (!target) return;
    document.querySelectorAll('.reached').forEach((old) => old.classList.remove('reached'));
    unfold(target);
    if (target.localName === 'details') target.classList.add('reached');
    target.scrollIntoView();
  };

  document.addEventListener('click', (event) => {
    const link = event.target.closest('a');
    if (link && link.classList.contains('again')) {
      event.preventDefault();
      show(link);
      return;
    }
    const href = link && link.getAttribute('href');
    if (href && href.startsWith('#')) {
      // What the filter hides can not be gone to.
      if (field.value) {
        field.value = '';
        filter();
      }
      setTimeout(() => go(href));
    }
  });
  window.addEventListener('hashchange', () => go(location.hash));
  go(location.hash);

  form.addEventListener('click', (event) => {
    const all = event.target.dataset.all;
    if (all) folds().forEach((fold) => { fold.open = all === 'open' || fold.id === 'c1'; });
  });

  // A long text that is unfolded can be copied.
  document.addEventListener('toggle', (event) => {
    const fold = event.target;
    if (!fold.open || !fold.classList.contains('long') || fold.querySelector('button')) return;
    const text = fold.querySelector('.t');
    const button = document.createElement('button');
    button.type = 'button';
    button.className = 'copy';
    button.textContent = 'copy';
    button.addEventListener('click', async () => {
      try {
        await navigator.clipboard.writeText(text.textContent);
        button.textContent = 'copied';
      } catch {
        getSelection().selectAllChildren(text);
        button.textContent = 'selected: copy with the keyboard';
      }
    });
    text.before(button);
  }, true);

  // What can be found in each step: its line, its own texts, and the blocks that it refers to.
  let index = null;
  const indexed = () => [...tree.querySelectorAll('.step')].map((step) => {
    const fold = step.firstElementChild;
    const own = fold.querySelector(':scope > .own');
    return {
      step,
      text: (fold.firstElementChild.textContent + '\n' + own.textContent).toLowerCase(),
      refers: [...own.querySelectorAll('a.again:not([data-from])')].map((link) => link.hash.slice(1)),
    };
  });

  let before = null;
  const filter = () => {
    const wanted = field.value.trim().toLowerCase();
    tree.querySelectorAll('.hit, .way').forEach((old) => old.classList.remove('hit', 'way'));
    tree.classList.toggle('filtering', wanted !== '');
    if (wanted === '') {
      if (before) before.forEach((open, fold) => { fold.open = open; });
      before = null;
      told.textContent = '';
      return;
    }
    if (!before) before = new Map([...folds()].map((fold) => [fold, fold.open]));
    if (!index) index = indexed();
    const blocks = new Map();
    const has = (id) => {
      if (!blocks.has(id)) {
        const block = document.getElementById(id);
        blocks.set(id, Boolean(block) && block.textContent.toLowerCase().includes(wanted));
      }
      return blocks.get(id);
    };
    let hits = 0;
    for (const { step, text, refers } of index) {
      if (!text.includes(wanted) && !refers.some(has)) continue;
      hits += 1;
      step.classList.add('hit');
      for (let at = step.parentElement; at && at !== tree; at = at.parentElement) {
        if (at.localName === 'details') at.open = true;
        else if (at.localName === 'li') at.classList.add('way');
      }
    }
    told.textContent = hits === 1 ? '1 step' : `${hits} steps`;
  };
  let timer = 0;
  field.addEventListener('input', () => {
    clearTimeout(timer);
    timer = setTimeout(filter, 150);
  });
  field.addEventListener('keydown', (event) => {
    if (event.key === 'Escape') {
      field.value = '';
      filter();
    }
  });
})();
