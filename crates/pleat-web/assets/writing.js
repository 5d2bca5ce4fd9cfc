// What a person writes: the draft of the next prompt, and new texts of prompts that wait. Nothing that was typed is lost.

const prompt = document.getElementById('prompt');
const draftName = `pleat:draft:${document.body.dataset.draft}`;

// ---- What is sent

const AWAY = 'Pleat cannot be reached; nothing was lost. Try again when it runs.';
/** For a prompt that is to be sent while the one before it still is. */
export const STILL_SENDING = 'The prompt before is still being sent. What you wrote since stays in the field; send it then.';
const LOGGED_OUT = 'You are not logged in any more. Open the link that pleat printed.';

/** Asks the server for something. The error is a sentence; `isConflict`: it cannot be done any more. */
export async function post(address, data) {
  const response = await fetch(address, { method: 'POST', body: data, headers: { 'x-pleat-script': '1' } }).catch(() => null);
  if (response === null) throw new Error(AWAY);
  if (response.ok) return;
  const words = response.status === 401 ? LOGGED_OUT : await response.text();
  throw Object.assign(new Error(words), { isConflict: response.status === 409 });
}

// ---- The draft

const newKey = () => [...crypto.getRandomValues(new Uint8Array(16))].map((byte) => byte.toString(16).padStart(2, '0')).join('');

/** What was posted since the server last took a draft, with the key of each text: an answer may be lost on its way. */
const keys = new Map();
let posted = '';

/** The draft goes to the server now. By the key it knows a text that is sent twice; a changed text is another prompt. */
export function beginSending() {
  posted = prompt.value;
  if (!keys.has(posted)) keys.set(posted, newKey());
  return keys.get(posted);
}

/** Whether the draft is another than the one that was posted. */
export const isDraftChanged = () => prompt.value !== posted;

function keepDraft() {
  if (prompt.value) localStorage.setItem(draftName, prompt.value);
  else localStorage.removeItem(draftName);
}

/** The server has the text that was posted. What was written after it meanwhile, or instead of it, is the next draft. */
export function draftWasSent() {
  keys.clear();
  // Words that were added to the draft stand behind its trimmed end.
  const sent = posted.trimEnd();
  if (prompt.value.startsWith(sent)) {
    const rest = prompt.value.slice(sent.length).trimStart();
    // Unlike a new value this leaves the caret in its place.
    prompt.setRangeText('', 0, prompt.value.length - rest.length);
  }
  keepDraft();
}

function sendByKey(event) {
  // An input method uses Enter for itself.
  if (event.key !== 'Enter' || event.shiftKey || event.isComposing || event.keyCode === 229) return;
  const hasKeyboard = matchMedia('(pointer: fine)').matches;
  if (!hasKeyboard && !event.ctrlKey && !event.metaKey) return;
  event.preventDefault();
  const send = prompt.form.querySelector('button.primary');
  if (!send.matches(':disabled') && prompt.value.trim()) prompt.form.requestSubmit(send);
}

if (prompt && document.body.dataset.draft) {
  if (!prompt.value) prompt.value = localStorage.getItem(draftName) ?? '';
  prompt.addEventListener('input', keepDraft);
  prompt.addEventListener('keydown', sendByKey);
}

// ---- New texts of prompts that wait

/** Prompts that the reader removes, with what was typed over them. */
const removed = new WeakSet();
const itemOf = (form) => form.closest('.queued');

/** For this long after a prompt was taken out its neighbours take no click, so that a second one meets none of them. */
const INERT_MS = 500;

/** A prompt is removed or sent at the reader's wish. */
export function takeOut(form) {
  if (form.dataset.post === 'remove') removed.add(itemOf(form));
  const list = form.closest('.list');
  list.inert = true;
  setTimeout(() => { list.inert = false; }, INERT_MS);
}

/** What was asked of a prompt could not be done. */
export function putBack(form) {
  removed.delete(itemOf(form));
}

function addToDraft(words) {
  prompt.value = prompt.value.trim() ? `${prompt.value.trimEnd()}\n\n${words}` : words;
  keepDraft();
}

/** The new text is stored. */
export function textWasSaved(form) {
  form.reset();
  const details = form.closest('details');
  details.open = false;
  details.querySelector('summary').focus({ preventScroll: true });
}

/** A new text that came too late goes on in the draft. */
export function textCameTooLate(form, text) {
  form.reset();
  addToDraft(text);
}

/** What was typed over prompts in an element that goes: it goes on in the draft. True where there was any. */
export function rescueTexts(element) {
  const texts = [...element.querySelectorAll('.edit textarea')].filter((text) => {
    // What is being saved is told of by the answer.
    return text.value !== text.defaultValue && !text.form.dataset.busy && !removed.has(itemOf(text.form));
  });
  for (const text of texts) addToDraft(text.value);
  return texts.length > 0;
}

document.addEventListener('toggle', ({ target }) => {
  if (target instanceof HTMLDetailsElement && target.open && target.matches('.edit')) {
    target.querySelector('textarea').focus({ preventScroll: true });
  }
}, true);
