// A demonstration, live: what a new user sees in the first minute, and that it is still there afterwards.

import assert from 'node:assert/strict';
import { SCREENS, scenario } from './scenario.mjs';
import {
  PARTS,
  allow,
  allowAll,
  assertFits,
  assertNoFaults,
  prompt,
  rowsOf,
  startDemonstration,
  waitForRequestOrEnd,
  waitForRows,
} from './transcript.mjs';

const WITH_PERMISSIONS = /permission/i;
const WITH_PLAN = /plan/i;

/** The rows as a page that is loaded now shows them. */
async function rowsOfNewPage(page) {
  const other = await page.context().newPage();
  await other.goto(page.url());
  const rows = await rowsOf(other);
  await other.close();
  return rows;
}

function visible(page, part) {
  return page.locator(part).filter({ visible: true }).count();
}

/** The live page ends with the rows that a reload, and a restart after a crash, show too. */
async function assertSameRowsForEver(house, page) {
  const rows = await rowsOfNewPage(page);
  await waitForRows(page, rows);
  await page.reload();
  assert.deepEqual(await rowsOf(page), rows);

  const path = new URL(page.url()).pathname;
  await house.crashAndServe();
  const later = await house.page();
  await later.goto(house.address(path));
  assert.deepEqual(await rowsOf(later), rows);
}

/** Clicks at the edges of the header, in its middle and between, each of which must toggle the row. */
async function assertWholeHeaderToggles(page) {
  const row = page.locator(PARTS.activity).first();
  const header = row.locator(':scope > summary');
  const isOpen = () => row.evaluate((details) => details.open);
  for (const [across, down] of [[0.01, 0.5], [0.25, 0.1], [0.5, 0.5], [0.75, 0.9], [0.99, 0.5]]) {
    for (const expected of [true, false]) {
      const { width, height } = await header.boundingBox();
      await header.click({ position: { x: width * across, y: height * down } });
      assert.equal(await isOpen(), expected, `a click at ${across} of the width and ${down} of the height`);
    }
  }
}

for (const screen of ['desktop', 'phone']) {
  scenario(`an activity row toggles by its whole header and stays open while rounds arrive, ${screen}`, async (house) => {
    await house.serve();
    const page = await house.page(SCREENS[screen]);
    await startDemonstration(house, page, WITH_PERMISSIONS);
    await prompt(page, 'Show me what you can do.');

    // The agent waits for an answer, so nothing moves under the mouse.
    assert.ok(await waitForRequestOrEnd(page), 'the demonstration asks for a permission');
    await assertWholeHeaderToggles(page);

    const row = page.locator(PARTS.activity).first();
    const header = row.locator(':scope > summary');
    await header.click();
    await row.evaluate((details) => window.pleatTest.keepOpen(details));
    const before = await header.textContent();
    await allow(page);
    await allowAll(page);

    assert.notEqual(await header.textContent(), before, 'more rounds arrived in the open row');
    assert.ok(await row.evaluate((details) => details.open), 'the row is still open');
    await assertFits(page);
    await assertNoFaults(page);
    await assertSameRowsForEver(house, page);
  });
}

scenario('a plan is one card, however often it is updated', async (house) => {
  await house.serve();
  const page = await house.page();
  await startDemonstration(house, page, WITH_PLAN);
  await prompt(page, 'Show me how you plan.');
  await page.locator(PARTS.plan).waitFor();
  const first = await page.locator(PARTS.plan).innerText();
  const key = await page.locator(PARTS.plan).getAttribute('data-key');
  await allowAll(page);

  assert.equal(await page.locator(PARTS.plan).count(), 1);
  assert.equal(await page.locator(PARTS.plan).getAttribute('data-key'), key, 'the card kept its key');
  assert.notEqual(await page.locator(PARTS.plan).innerText(), first, 'the card was updated');
  await assertNoFaults(page);
  await assertSameRowsForEver(house, page);
});

scenario('what ran when the server was killed is shown as interrupted', async (house) => {
  await house.serve();
  const page = await house.page();
  await startDemonstration(house, page, WITH_PERMISSIONS);
  await prompt(page, 'Show me what you can do.');
  assert.ok(await waitForRequestOrEnd(page), 'the demonstration asks for a permission');
  const before = await rowsOf(page);
  const path = new URL(page.url()).pathname;

  await house.crashAndServe();
  const later = await house.page();
  await later.goto(house.address(path));
  const rows = await rowsOf(later);

  const keys = rows.map((row) => row.key);
  assert.deepEqual(keys.slice(0, before.length), before.map((row) => row.key), 'what was seen is still there');
  assert.match(rows.find((row) => row.kind === 'activity').words, /interrupted/);
  assert.equal(await later.locator(PARTS.notice).count(), 1);
  assert.equal(await later.locator('summary').filter({ hasText: 'Working' }).count(), 0);
  assert.equal(await visible(later, PARTS.option), 0);
  assert.equal(await visible(later, PARTS.stop), 0);
});

scenario('Stop ends the turn and its open request', async (house) => {
  await house.serve();
  const page = await house.page();
  await startDemonstration(house, page, WITH_PERMISSIONS);
  await prompt(page, 'Show me what you can do.');
  assert.ok(await waitForRequestOrEnd(page), 'the demonstration asks for a permission');
  await page.locator(PARTS.stop).click();
  await page.locator(PARTS.stop).waitFor({ state: 'hidden' });

  assert.equal(await visible(page, PARTS.option), 0);
  await assertNoFaults(page);
  await assertSameRowsForEver(house, page);
});
