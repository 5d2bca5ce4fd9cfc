// Helps to read what stands there; it knows nothing of patches or of a conversation.

// ---- What scrolls by itself

const SCROLLERS = '.permission .request, .call-details pre, .printed, .queue .list';

/** Tells that something goes on below its edge. */
function markMore(scroller) {
  scroller.toggleAttribute('data-more', scroller.scrollHeight - scroller.clientHeight - scroller.scrollTop > 4);
}

const scrollerSizes = new ResizeObserver((entries) => entries.forEach(({ target }) => markMore(target)));

document.addEventListener('scroll', ({ target }) => {
  if (target instanceof Element && target.matches(SCROLLERS)) markMore(target);
}, { passive: true, capture: true });

/** Watches all that may go on below its edge. */
export function watchScrollers() {
  for (const scroller of document.querySelectorAll(SCROLLERS)) {
    scrollerSizes.observe(scroller);
    markMore(scroller);
  }
}

// ---- Times in the reader's own words

const sameDay = new Intl.DateTimeFormat(undefined, { hour: '2-digit', minute: '2-digit' });
const sameYear = new Intl.DateTimeFormat(undefined, { day: 'numeric', month: 'short', hour: '2-digit', minute: '2-digit' });
const otherYear = new Intl.DateTimeFormat(undefined, { day: 'numeric', month: 'short', year: 'numeric' });

/** Says each time as the reader's own clock and language do. */
export function localTimes() {
  const now = new Date();
  for (const element of document.querySelectorAll('time:not([title])')) {
    const time = new Date(element.dateTime);
    element.title = element.textContent;
    const isToday = time.toDateString() === now.toDateString();
    const format = isToday ? sameDay : time.getFullYear() === now.getFullYear() ? sameYear : otherYear;
    element.textContent = format.format(time);
  }
}

// ---- Time that goes by

/** How far the server's clock is ahead of ours, in milliseconds. */
const ahead = Number(document.body.dataset.now ?? Date.now()) - Date.now();

function duration(seconds) {
  if (seconds < 60) return `${seconds} s`;
  return `${Math.floor(seconds / 60)} min ${String(seconds % 60).padStart(2, '0')} s`;
}

/** Says how long each thing goes on that is told by its beginning. */
export function tellElapsed() {
  for (const element of document.querySelectorAll('[data-since]')) {
    const seconds = Math.max(0, Math.floor((Date.now() + ahead - Number(element.dataset.since)) / 1000));
    const words = `(${duration(seconds)})`;
    if (element.textContent !== words) element.textContent = words;
  }
}

setInterval(tellElapsed, 1000);
