'use strict';
const paper = document.getElementById('paper');
const verdict = document.getElementById('verdict');
const search = document.getElementById('search');
const shown = document.getElementById('shown');
const entries = [...document.querySelectorAll('[data-verdict]')];
const tiles = [...document.querySelectorAll('button.tile')];

function apply() {
  const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
  for (const entry of entries) {
    const text = entry.dataset.text;
    entry.hidden = (paper.value && entry.dataset.paper !== paper.value)
      || (verdict.value && entry.dataset.verdict !== verdict.value)
      || words.some(word => !text.includes(word));
  }
  for (const group of document.querySelectorAll('[data-group]')) {
    group.hidden = !group.querySelector('[data-verdict]:not([hidden])');
  }
  for (const tile of tiles) {
    tile.setAttribute('aria-pressed', String(verdict.value === tile.value));
  }
  const cards = entries.filter(entry => entry.tagName === 'ARTICLE');
  shown.value = `${cards.filter(card => !card.hidden).length} of ${cards.length} claims`;
}

for (const field of [paper, verdict, search]) field.addEventListener('input', apply);
for (const tile of tiles) {
  tile.addEventListener('click', () => {
    verdict.value = verdict.value === tile.value ? '' : tile.value;
    apply();
  });
}
apply();
