// Keeps an open page true, and the reader's place and words.
//
// The server sends patches that name elements by `data-key`. This module applies them, and nothing else: it knows no row
// and no state of a conversation. What belongs to the reader is never touched: which <details> are open, the place on the
// page, a selection, a draft.

import { localTimes, tellElapsed, watchScrollers } from './reading.js';
import { STILL_SENDING, beginSending, draftWasSent, isDraftChanged, post, putBack } from './writing.js';
import { rescueTexts, takeOut, textCameTooLate, textWasSaved } from './writing.js';

const root = document.documentElement;
const body = document.body;
const banner = document.getElementById('banner');
root.classList.add('scripted');

const find = (key) => document.querySelector(`[data-key="${CSS.escape(key)}"]`);
const keyed = (element) => [...element.children].filter((child) => child.hasAttribute('data-key'));
const holdsBlocks = (element) => element.firstElementChild?.hasAttribute('data-key') ?? false;

function elementOf(html) {
  const template = document.createElement('template');
  template.innerHTML = html;
  return template.content.firstElementChild;
}

// ---- The reader's place

const END_TOLERANCE = 4;
const isLatestPage = () => body.hasAttribute('data-draft') && !/[?&](at|earlier|later)=/.test(location.search);
const distanceToEnd = () => root.scrollHeight - root.clientHeight - window.scrollY;
const hasSelection = () => !(document.getSelection()?.isCollapsed ?? true);

let follows = isLatestPage() && (location.hash === '' || location.hash === '#end');
let place = [];
let lastScroll = window.scrollY;

// The content of closed <details> has boxes too.
const isVisible = (element) => element.checkVisibility() && element.getClientRects().length > 0;

/** The chain of elements at the upper edge of the view, each with its distance from it. */
function readPlace() {
  const edge = document.querySelector('.banner:not([hidden])')?.offsetHeight ?? 0;
  const chain = [];
  let element = find('rows');
  while (element) {
    element = keyed(element).find((child) => isVisible(child) && child.getBoundingClientRect().bottom > edge);
    if (element) chain.push([element, element.getBoundingClientRect().top]);
  }
  return chain.reverse();
}

function toEnd() {
  window.scrollTo(0, root.scrollHeight);
  lastScroll = window.scrollY;
}

/** Puts the page where the reader was, after its content changed. */
function keepPlace() {
  if (follows && !hasSelection()) {
    toEnd();
    place = readPlace();
  } else {
    const anchor = place.find(([candidate]) => candidate.isConnected && isVisible(candidate));
    const moved = anchor ? anchor[0].getBoundingClientRect().top - anchor[1] : 0;
    if (Math.abs(moved) >= 0.5) window.scrollBy(0, moved);
    lastScroll = window.scrollY;
    // Read anew only when the place itself went, so that parts of a pixel do not add up.
    if (!anchor || anchor !== place[0]) place = readPlace();
  }
  showAway();
  markBar();
}

function showAway() {
  body.toggleAttribute('data-away', distanceToEnd() > 200);
}

const handOver = () => { follows = false; };

if (find('rows')) {
  addEventListener('wheel', (event) => { if (event.deltaY < 0) handOver(); }, { passive: true });
  addEventListener('keydown', (event) => {
    const typing = event.target.closest?.('input, textarea');
    if (!typing && ['ArrowUp', 'PageUp', 'Home'].includes(event.key)) handOver();
    if (!typing && event.key === ' ' && event.shiftKey) handOver();
  });
  let touchY = 0;
  addEventListener('touchstart', (event) => { touchY = event.touches[0]?.clientY ?? 0; }, { passive: true });
  addEventListener('touchmove', (event) => {
    const y = event.touches[0]?.clientY ?? touchY;
    if (y > touchY) handOver();
    touchY = y;
  }, { passive: true });
  addEventListener('scroll', () => {
    // Our own doing.
    if (window.scrollY === lastScroll) return;
    const upwards = window.scrollY < lastScroll;
    // A page that shrinks scrolls upwards too, but then it stands at its end.
    if (upwards && distanceToEnd() > END_TOLERANCE) handOver();
    if (!upwards && isLatestPage() && distanceToEnd() <= END_TOLERANCE) follows = true;
    lastScroll = window.scrollY;
    place = readPlace();
    showAway();
  }, { passive: true });
  addEventListener('scroll', markBar, { passive: true });
  // Fonts, the window's width, an image or a fetched result may change heights as well.
  new ResizeObserver(() => keepPlace()).observe(find('main'));
  new ResizeObserver(() => keepPlace()).observe(find('dock'));
  if (follows) toEnd();
  place = readPlace();
}

// ---- Patches

/** Changes of elements under the reader's selection, by key: they wait until it is gone. */
const held = new Map();

function isSelected(element) {
  const selection = document.getSelection();
  return hasSelection() && selection.containsNode(element, true);
}

function whenFree(element, change) {
  if (isSelected(element)) held.set(element.dataset.key, { element, ...change });
  else { held.delete(element.dataset.key); change.run(element); }
}

document.addEventListener('selectionchange', () => {
  if (hasSelection() || held.size === 0) return;
  const changes = [...held.values()];
  held.clear();
  for (const { element, run } of changes) if (element.isConnected) run(element);
  settle();
});

const swap = (element, fresh) => whenFree(element, { fresh, run: (old) => exchange(old, fresh) });
const drop = (element) => whenFree(element, { run: remove });

function exchange(old, fresh) {
  if (old.tagName === 'TEXTAREA') {
    // What was typed into it stays.
    setAttributes(old, attributesOf(fresh));
    old.defaultValue = fresh.defaultValue;
  } else {
    old.replaceWith(fresh);
  }
}

function remove(element) {
  if (rescueTexts(element)) say('The prompt that you were changing was sent or removed. What you wrote stands in the field below.');
  element.remove();
}

function isReaders(name) {
  return ['data-key', 'open', 'inert', 'data-seen', 'data-more', 'data-loaded', 'data-busy'].includes(name);
}

function setAttributes(element, wanted) {
  for (const { name } of [...element.attributes]) {
    if (!(name in wanted) && !isReaders(name)) element.removeAttribute(name);
  }
  for (const [name, value] of Object.entries(wanted)) {
    if (name !== 'open' && element.getAttribute(name) !== value) element.setAttribute(name, value);
  }
}

const attributesOf = (element) => Object.fromEntries([...element.attributes].map(({ name, value }) => [name, value]));

function putAfter(parent, after, element) {
  const sibling = after === null ? null : keyed(parent).find((child) => child.dataset.key === after);
  if (sibling) sibling.after(element);
  else parent.prepend(element);
}

const operations = {
  insert({ parent, after, html }) {
    const fresh = elementOf(html);
    // What was to go, but stands under a selection, goes now: a key is never there twice.
    const old = held.get(fresh.dataset.key);
    if (old) { held.delete(fresh.dataset.key); remove(old.element); }
    const target = find(parent);
    if (target) putAfter(target, after, fresh);
  },
  move({ key, after }) {
    const element = find(key);
    if (element) putAfter(element.parentElement, after, element);
  },
  replace({ key, html }) {
    const element = find(key);
    if (element) swap(element, elementOf(html));
  },
  remove({ key }) {
    const element = find(key);
    if (element) drop(element);
  },
  attributes({ key, attributes }) {
    const element = find(key);
    if (!element) return;
    setAttributes(element, attributes);
    const fresh = held.get(key)?.fresh;
    if (fresh) setAttributes(fresh, attributes);
  },
};

/** Makes an element show what a fresh one shows, keeping every part that is the same. */
function reconcile(element, fresh) {
  const fetched = element.hasAttribute('data-fetch') && fresh.hasAttribute('data-fetch');
  const alike = element.tagName === fresh.tagName && holdsBlocks(element) === holdsBlocks(fresh);
  if (fetched || (alike && !holdsBlocks(fresh) && element.innerHTML === fresh.innerHTML)) {
    setAttributes(element, attributesOf(fresh));
  } else if (alike && holdsBlocks(fresh)) {
    setAttributes(element, attributesOf(fresh));
    reconcileChildren(element, fresh);
  } else {
    swap(element, fresh);
  }
}

function reconcileChildren(element, fresh) {
  const old = new Map(keyed(element).map((child) => [child.dataset.key, child]));
  let previous = null;
  for (const child of keyed(fresh)) {
    const known = old.get(child.dataset.key);
    old.delete(child.dataset.key);
    const wanted = known ?? child;
    const next = previous ? previous.nextElementSibling : element.firstElementChild;
    if (next !== wanted) putAfter(element, previous?.dataset.key ?? null, wanted);
    if (known) reconcile(known, child);
    previous = previous ? previous.nextElementSibling : element.firstElementChild;
  }
  for (const gone of old.values()) drop(gone);
}

/** What follows from a change, whoever made it. */
function settle() {
  tellTitle();
  localTimes();
  tellElapsed();
  watchQuestions();
  watchScrollers();
  refetchChanged();
  if (find('rows')) keepPlace();
}

// ---- The connection

const SILENCE_MS = 9000;
const RETRY_MS = [500, 1000, 2000, 4000];

let shown = body.dataset.at ?? '';
let source = null;
let silence = 0;
let attempts = 0;

function connect() {
  const address = new URL(body.dataset.stream, location);
  if (shown) address.searchParams.set('shown', shown);
  source = new EventSource(address);
  source.addEventListener('beat', alive);
  source.addEventListener('patch', (event) => {
    alive(event);
    for (const patch of JSON.parse(event.data)) operations[patch.op](patch);
    settle();
  });
  source.addEventListener('sync', (event) => {
    alive(event);
    reconcile(find('page'), elementOf(JSON.parse(event.data).html));
    settle();
  });
  source.addEventListener('gone', (event) => {
    disconnect();
    say(event.data);
  });
  source.addEventListener('error', () => lost(attempts > 0));
  expectLife();
}

function alive(event) {
  attempts = 0;
  if (event.lastEventId) shown = event.lastEventId;
  setOffline(false);
  expectLife();
}

function expectLife() {
  clearTimeout(silence);
  silence = setTimeout(() => lost(true), SILENCE_MS);
}

function disconnect() {
  clearTimeout(silence);
  source?.close();
  source = null;
}

/** Tries again. The first failure is not worth a word: a restarted server is back at once. */
function lost(isToldOf) {
  disconnect();
  if (isToldOf) setOffline(true);
  silence = setTimeout(connect, RETRY_MS[Math.min(attempts, RETRY_MS.length - 1)]);
  attempts += 1;
}

const isOffline = () => body.classList.contains('offline');

/** While the server is away nothing can be asked of it, and what the page says of states may be so no more. */
function setOffline(is) {
  if (is) say('The connection to Pleat is lost. Trying again…', 'connection');
  else if (banner.dataset.about === 'connection') say('');
  if (is === isOffline()) return;
  body.classList.toggle('offline', is);
  for (const fieldset of document.querySelectorAll('fieldset')) fieldset.disabled = is;
  tellTitle();
}

function tellTitle() {
  const title = isOffline() ? `Not connected · ${find('head/title')?.textContent ?? ''}` : find('page')?.dataset.title;
  if (title) document.title = `${title} · Pleat`;
}

function say(words, about = '') {
  banner.textContent = words;
  banner.dataset.about = about;
  banner.hidden = words === '';
}

addEventListener('pagehide', disconnect);
addEventListener('pageshow', (event) => { if (event.persisted) connect(); });

/** Browsers open few connections to one server; so of the tabs that nobody looks at only some stay connected. */
const HIDDEN_STREAMS = 3;
let giveBack = () => {};

async function mayStayConnected() {
  for (let n = 0; n < HIDDEN_STREAMS; n += 1) {
    const taken = await new Promise((tell) => {
      navigator.locks.request(`pleat:stream:${n}`, { ifAvailable: true }, (lock) => {
        tell(lock !== null);
        return lock && new Promise((done) => { giveBack = done; });
      });
    });
    if (taken) return true;
  }
  return false;
}

document.addEventListener('visibilitychange', async () => {
  giveBack();
  if (!document.hidden) {
    if (!source) { disconnect(); connect(); }
  } else if (navigator.locks && !await mayStayConnected() && document.hidden) {
    disconnect();
  }
});

// ---- What is fetched when it is opened

async function fetchInto(element) {
  const version = element.dataset.version;
  if (element.dataset.loaded === version) return;
  element.dataset.loaded = version;
  try {
    const response = await fetch(`${element.dataset.fetch}?fragment`);
    if (!response.ok) throw new Error(await response.text());
    const html = await response.text();
    if (element.dataset.loaded === version && !isSelected(element)) element.innerHTML = html;
    watchScrollers();
  } catch {
    // The link stays, or what was there; opening it again tries again.
    delete element.dataset.loaded;
  }
}

const fetchable = (details) => [...details.querySelectorAll('[data-fetch]')].filter((it) => it.closest('details') === details);

function refetchChanged() {
  for (const details of document.querySelectorAll('details.call[open]')) fetchable(details).forEach(fetchInto);
}

document.addEventListener('toggle', (event) => {
  if (!(event.target instanceof HTMLDetailsElement)) return;
  if (event.target.open) fetchable(event.target).forEach(fetchInto);
}, true);

// Opening something is reading: the end is not followed away from it.
document.addEventListener('click', (event) => {
  if (!event.target.closest?.('summary')) return;
  place = readPlace();
  const followed = follows;
  follows = false;
  requestAnimationFrame(() => { follows = followed && distanceToEnd() <= END_TOLERANCE; });
});

// ---- Commands

document.addEventListener('submit', async (event) => {
  const form = event.target;
  const kind = form.dataset.post;
  if (!kind) return;
  event.preventDefault();
  if (form.dataset.busy && kind === 'prompt' && isDraftChanged()) say(STILL_SENDING);
  if (form.dataset.busy) return;
  form.dataset.busy = 'true';
  const data = new URLSearchParams(new FormData(form, event.submitter));
  if (kind === 'prompt') data.set('key', beginSending());
  if (kind === 'remove' || kind === 'release') takeOut(form);
  try {
    await post(form.action, data);
    say('');
    if (kind === 'prompt') promptWasSent(form);
    if (kind === 'edit') textWasSaved(form);
  } catch (error) {
    putBack(form);
    const isTooLate = kind === 'edit' && (error.isConflict || !form.isConnected);
    if (isTooLate) textCameTooLate(form, data.get('text'));
    say(isTooLate ? `${error.message} What you wrote stands in the field below.` : error.message);
  } finally {
    delete form.dataset.busy;
  }
});

/** The end of a long queue is shown once, where the reader's own prompt has come to stand. */
let showsNewest = false;

function showNewest() {
  const list = showsNewest && find('queue/list');
  if (!list) return;
  showsNewest = false;
  list.scrollTop = list.scrollHeight;
}

function promptWasSent(form) {
  draftWasSent();
  showsNewest = true;
  showNewest();
  if (isLatestPage()) {
    follows = true;
    document.getSelection()?.removeAllRanges();
    keepPlace();
  } else {
    location.href = form.action.replace(/\/prompt$/, '#end');
  }
}

document.addEventListener('click', (event) => {
  if (!event.target.closest?.('.latest a, .pager a[href$="#end"]') || !isLatestPage()) return;
  event.preventDefault();
  follows = true;
  keepPlace();
});

// ---- Questions

/** For this long a new question takes no answer, so that a click meant for something else decides nothing. */
const INERT_MS = 500;
const known = new WeakSet();

/** The card of a question in its place: at its call, or beside what is closed around that. */
function cardInRows(request) {
  const cards = document.querySelectorAll(`main .permission[data-request="${CSS.escape(request)}"]`);
  return [...cards].find(isVisible);
}

/** The bar leaves out the questions whose answers are in view in their place. A line more leaves less room, so none flickers. */
function markBar() {
  const lines = document.querySelectorAll('.bar > .question');
  if (lines.length === 0) return;
  const bottom = find('dock').getBoundingClientRect().top;
  for (const line of lines) {
    const box = cardInRows(line.dataset.request)?.querySelector('.options').getBoundingClientRect();
    line.toggleAttribute('data-seen', Boolean(box) && box.top >= 0 && box.bottom <= bottom);
  }
}

document.addEventListener('click', (event) => {
  const line = event.target.closest?.('.bar > .question');
  const card = line && cardInRows(line.dataset.request);
  if (!card) return;
  event.preventDefault();
  handOver();
  const room = find('dock').getBoundingClientRect().top;
  card.scrollIntoView({ block: card.offsetHeight > room ? 'start' : 'center' });
  card.focus({ preventScroll: true });
});

document.addEventListener('toggle', markBar, true);

function watchQuestions() {
  for (const card of document.querySelectorAll('.permission')) {
    if (known.has(card)) continue;
    known.add(card);
    card.inert = true;
    setTimeout(() => { card.inert = false; }, INERT_MS);
  }
  markBar();
}

settle();
if (body.dataset.stream) connect();
