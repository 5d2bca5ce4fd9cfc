// Helps to read what stands there; it knows nothing of patches or of a conversation.

// ---- What scrolls by itself

const SCROLLERS = '.permission .request, .call-details pre, .printed';

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
