// Runs in every page of the tests before the page's own script: reads the rows, and notes each moment at which the page
// showed what it never may.
'use strict';
{
  const KINDS = ['activity', 'plan', 'message', 'notice'];
  const faults = new Set();
  let kept = null;

  const rowElements = () => [...document.querySelectorAll('.row[data-key]')];
  const kindOf = (row) => KINDS.find((kind) => row.classList.contains(kind)) ?? row.className;
  const wordsOf = (row) => (row.querySelector(':scope > summary') ?? row).textContent.replace(/\s+/g, ' ').trim();

  function check() {
    const rows = rowElements();
    const keys = rows.map((row) => row.dataset.key);
    const kinds = rows.map(kindOf);
    if (new Set(keys).size < keys.length) faults.add(`two rows with one key: ${keys.join(' ')}`);
    if (kinds.filter((kind) => kind === 'plan').length > 1) faults.add('more than one plan card');
    if (kinds.some((kind, index) => kind === 'activity' && kinds[index + 1] === kind)) {
      faults.add(`two activity rows for one run: ${kinds.join(' ')}`);
    }
    if (kept && !kept.isConnected) faults.add('an opened row was replaced');
    if (kept && !kept.open) faults.add('an opened row was closed');
  }

  new MutationObserver(check).observe(document, { attributes: true, childList: true, subtree: true });

  window.pleatTest = {
    /** The rows as a person would compare them: key, kind, and what one says while it is closed. */
    rows: () => rowElements().map((row) => ({ key: row.dataset.key, kind: kindOf(row), words: wordsOf(row) })),
    /** From now on this `<details>` must stay as it is, and open. */
    keepOpen: (row) => (kept = row),
    /** What the page showed and never may. */
    faults: () => [...faults],
  };
}
