// What a person sees and does on a conversation's page.

import assert from 'node:assert/strict';

/** The parts of the page that the tests speak of. */
export const PARTS = {
  activity: '.row.activity[data-key]',
  plan: '.row.plan[data-key]',
  notice: '.row.notice[data-key]',
  option: '.permission button[name=option]',
  question: '.bar .question',
  composer: 'form.composer textarea',
  send: 'form.composer button.primary',
  stop: 'button.stop',
  force: 'button.force',
  queued: '.queue .queued',
  banner: '#banner',
  state: '.top [role=status]',
};

/** The rows: key, kind, and what one says while it is closed. */
export function rowsOf(page) {
  return page.evaluate(() => window.pleatTest.rows());
}

/** Waits until the page shows exactly these rows. */
export async function waitForRows(page, rows) {
  try {
    await page.waitForFunction((wanted) => JSON.stringify(window.pleatTest.rows()) === wanted, JSON.stringify(rows));
  } catch {
    assert.deepEqual(await rowsOf(page), rows);
  }
}

/** Whatever the page showed since it was loaded, it never showed what it never may. */
export async function assertNoFaults(page) {
  assert.deepEqual(await page.evaluate(() => window.pleatTest.faults()), []);
}

/** Nothing is wider than the screen. */
export async function assertFits(page) {
  const { content, screen } = await page.evaluate(() => ({
    content: document.scrollingElement.scrollWidth,
    screen: document.documentElement.clientWidth,
  }));
  assert.ok(content <= screen, `the page is ${content} px wide on a screen of ${screen}`);
}

/** Starts a session with the demonstration whose words match, from the first page, and opens its page. */
export async function startDemonstration(house, page, words) {
  const choice = page.locator('form.new label').filter({ hasText: words }).first();
  await start(house, page, choice.locator('input[name=agent]'));
}

/** Starts a session with the agent of this name and opens its page. */
export async function startAgent(house, page, name) {
  await start(house, page, page.locator(`form.new input[name=agent][value="${name}"]`));
}

async function start(house, page, choice) {
  await page.goto(house.address('/'));
  await choice.check();
  await page.locator('form.new button[type=submit]').click();
  await page.waitForURL(/\/s\/[^/]+/);
}

/** Sends a prompt and waits until its turn runs. */
export async function prompt(page, text) {
  await page.locator(PARTS.composer).fill(text);
  await page.locator(PARTS.send).click();
  await page.locator(PARTS.stop).waitFor();
}

/** Writes a prompt while a turn runs, and waits until the page shows that it waits. */
export async function queue(page, text) {
  await page.locator(PARTS.composer).fill(text);
  await page.locator(PARTS.send).click();
  await page.locator(PARTS.queued).filter({ hasText: text }).waitFor();
}

/** The texts of the prompts that wait, in order. */
export function queued(page) {
  return page.locator(`${PARTS.queued} > .plain`).allInnerTexts();
}

/** Waits until exactly these prompts wait. */
export async function waitForQueue(page, texts) {
  const isShown = (wanted) => {
    const texts = [...document.querySelectorAll('.queue .queued > .plain')].map((text) => text.textContent);
    return JSON.stringify(texts) === wanted;
  };
  try {
    await page.waitForFunction(isShown, JSON.stringify(texts));
  } catch {
    assert.deepEqual(await queued(page), texts);
  }
}

/** What was said, prompts and replies, in order. */
export function said(page) {
  return page.locator('.rows .message > :is(.plain, .prose)').allInnerTexts();
}

/** Waits until a part of the page says something. */
export async function waitForWords(page, part, words) {
  await page.locator(part).filter({ hasText: words }).first().waitFor();
}

/** Waits until a person must answer (`true`) or the turn is over (`false`). */
export async function waitForRequestOrEnd(page) {
  const outcome = await page.waitForFunction(
    ([option, stop]) => {
      const shown = (selector) => [...document.querySelectorAll(selector)].some((element) => element.checkVisibility());
      if (shown(option)) return 'request';
      return shown(stop) ? null : 'end';
    },
    [PARTS.option, PARTS.stop],
  );
  return (await outcome.jsonValue()) === 'request';
}

/** Gives the first open request the agent's own word for yes, and waits until the request is gone. */
export async function allow(page) {
  const asking = page.locator('.permission').filter({ has: page.locator('button[name=option]') });
  const request = asking.filter({ visible: true }).first();
  const handle = await request.elementHandle();
  const options = request.locator('button[name=option]');
  const yes = options.filter({ hasText: /allow|yes|approve|proceed|accept/i }).first();
  await ((await yes.count()) > 0 ? yes : options.first()).click();
  await page.waitForFunction(
    (element) => !element.isConnected || !element.querySelector('button[name=option]')?.checkVisibility(),
    handle,
  );
}

/** Allows whatever is asked for until the turn is over. */
export async function allowAll(page) {
  let answered = 0;
  for (; await waitForRequestOrEnd(page); answered += 1) await allow(page);
  return answered;
}
