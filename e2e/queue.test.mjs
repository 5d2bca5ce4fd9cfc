// What is written while a turn runs is kept, shown, and sent once, in order; and nothing that a person typed is lost.

import assert from 'node:assert/strict';
import { SCREENS, scenario } from './scenario.mjs';
import {
  PARTS,
  allow,
  assertFits,
  assertNoFaults,
  prompt,
  queue,
  queued,
  rowsOf,
  said,
  startAgent,
  waitForQueue,
  waitForRequestOrEnd,
  waitForWords,
} from './transcript.mjs';

const OPTIONS = [
  { optionId: 'yes', name: 'Yes', kind: 'allow_once' },
  { optionId: 'no', name: 'No', kind: 'reject_once' },
];
const WAITS = { ask: { options: OPTIONS, toolCall: { toolCallId: 'c1', title: 'make', kind: 'execute', status: 'pending' } } };

/** The first turn runs until its question is answered; the others say what they were asked. */
const FIRST_TURN_WAITS = { turns: [[WAITS], [{ echo: true }]] };

const isOver = (page) => page.locator(PARTS.stop).waitFor({ state: 'hidden' });

async function startRunning(house, settings, script = FIRST_TURN_WAITS) {
  await house.agent('scripted', script);
  await house.serve();
  const page = await house.page(settings);
  await startAgent(house, page, 'scripted');
  await prompt(page, 'first');
  assert.ok(await waitForRequestOrEnd(page), 'the first turn runs');
  return page;
}

function itemOf(page, text) {
  return page.locator(PARTS.queued).filter({ hasText: text });
}

async function openEdit(page, text) {
  const item = itemOf(page, text);
  await item.locator('.edit > summary').click();
  return item.locator('.edit textarea');
}

for (const [screen, settings] of [['desktop', SCREENS.desktop], ['phone', SCREENS.phone]]) {
  scenario(`prompts written while a turn runs are queued, edited, removed and sent in order, ${screen}`, async (house) => {
    const page = await startRunning(house, settings);
    assert.equal(await page.locator(PARTS.send).innerText(), 'Queue');
    await queue(page, 'second');
    assert.equal(await page.locator(PARTS.composer).inputValue(), '');
    await queue(page, 'third');
    await queue(page, 'fourth');
    await waitForWords(page, PARTS.queued, 'queued');
    await assertFits(page);
    await page.reload();
    assert.deepEqual(await queued(page), ['second', 'third', 'fourth']);

    const text = await openEdit(page, 'second');
    await text.fill('second, but better');
    await itemOf(page, 'second').getByRole('button', { name: 'Save' }).click();
    await waitForQueue(page, ['second, but better', 'third', 'fourth']);
    assert.ok(!(await itemOf(page, 'better').locator('.edit').evaluate((details) => details.open)), 'the form is closed');
    await itemOf(page, 'third').getByRole('button', { name: 'Remove' }).click();
    await waitForQueue(page, ['second, but better', 'fourth']);
    await page.reload();
    assert.deepEqual(await queued(page), ['second, but better', 'fourth']);

    await allow(page);
    await isOver(page);
    assert.equal(await page.locator(PARTS.queued).count(), 0);
    const all = ['first', 'second, but better', 'second, but better', 'fourth', 'fourth'];
    assert.deepEqual(await said(page), all);
    assert.equal(await page.locator(PARTS.send).innerText(), 'Send');
    const rows = await rowsOf(page);
    await page.reload();
    assert.deepEqual(await rowsOf(page), rows);
    await assertFits(page);
    await assertNoFaults(page);
  });
}

scenario('what waits survives a crash and is sent once', async (house) => {
  const page = await startRunning(house);
  await queue(page, 'second');
  await queue(page, 'third');
  const path = new URL(page.url()).pathname;
  await house.crashAndServe();
  const later = await house.page();
  await later.goto(house.address(path));
  // The new process plays its first turn again.
  await waitForRequestOrEnd(later);
  await allow(later);
  await isOver(later);
  assert.equal(await later.locator(PARTS.queued).count(), 0);
  const typed = await later.locator('.rows .user > .plain').allInnerTexts();
  assert.deepEqual(typed, ['first', 'second', 'third']);
});

scenario('an open form with what was typed into it survives whatever happens around it', async (house) => {
  const page = await startRunning(house);
  await queue(page, 'second');
  await queue(page, 'third');
  const other = await house.page();
  await other.goto(page.url());

  const text = await openEdit(page, 'third');
  const form = await text.elementHandle();
  await text.fill('third, half typed');
  await queue(other, 'fourth');
  await waitForQueue(page, ['second', 'third', 'fourth']);
  await itemOf(other, 'second').getByRole('button', { name: 'Remove' }).click();
  await waitForQueue(page, ['third', 'fourth']);
  // Another browser changes the very text.
  await (await openEdit(other, 'third')).fill('third, from elsewhere');
  await itemOf(other, 'third').getByRole('button', { name: 'Save' }).click();
  await waitForQueue(page, ['third, from elsewhere', 'fourth']);
  assert.ok(await form.evaluate((element) => element.isConnected && element.closest('details').open), 'the form is still open');
  assert.equal(await text.inputValue(), 'third, half typed');
  await itemOf(page, 'third').getByRole('button', { name: 'Save' }).click();
  await waitForQueue(page, ['third, half typed', 'fourth']);
  await waitForQueue(other, ['third, half typed', 'fourth']);
});

scenario('what was typed over a prompt that is sent meanwhile goes on below', async (house) => {
  const page = await startRunning(house);
  await queue(page, 'second');
  await (await openEdit(page, 'second')).fill('second, half typed');
  await page.locator(PARTS.composer).fill('A draft');
  await allow(page);
  await isOver(page);
  await waitForWords(page, PARTS.banner, 'was sent or removed');
  assert.equal(await page.locator(PARTS.composer).inputValue(), 'A draft\n\nsecond, half typed');
  await page.reload();
  assert.equal(await page.locator(PARTS.composer).inputValue(), 'A draft\n\nsecond, half typed');
});

scenario('a text that is saved too late is told of and goes on below', async (house) => {
  const page = await startRunning(house);
  await queue(page, 'second');
  const other = await house.page();
  // Its connection hangs, so that it still shows what waits.
  const hanging = [];
  await other.route(/\/events\b/, (route) => hanging.push(route));
  await other.goto(page.url());
  await (await openEdit(other, 'second')).fill('too late');
  await allow(page);
  await isOver(page);
  await itemOf(other, 'second').getByRole('button', { name: 'Save' }).click();
  await waitForWords(other, PARTS.banner, 'does not wait any more; it was sent or removed. What you wrote stands in the field below.');
  assert.equal(await other.locator(PARTS.composer).inputValue(), 'too late');
  await Promise.all(hanging.map((route) => route.abort().catch(() => {})));
});

scenario('a prompt that the reader removes takes along what was typed over it', async (house) => {
  const page = await startRunning(house);
  await queue(page, 'second');
  await (await openEdit(page, 'second')).fill('second, half typed');
  await itemOf(page, 'second').getByRole('button', { name: 'Remove' }).click();
  await waitForQueue(page, []);
  assert.equal(await page.locator(PARTS.composer).inputValue(), '');
  assert.ok(await page.locator(PARTS.banner).isHidden());
});

scenario('without script a prompt is queued and edited, and one that is sent meanwhile loses no text', async (house) => {
  const page = await startRunning(house);
  const plain = await house.page({ ...SCREENS.desktop, javaScriptEnabled: false });
  await plain.goto(page.url());
  await plain.locator(PARTS.composer).fill('second');
  await plain.locator(PARTS.send).click();
  await plain.locator(PARTS.queued).waitFor();
  await (await openEdit(plain, 'second')).fill('second, but better');
  await plain.getByRole('button', { name: 'Save' }).click();
  assert.deepEqual(await queued(plain), ['second, but better']);

  await (await openEdit(plain, 'second')).fill('too late');
  await allow(page);
  await isOver(page);
  await plain.getByRole('button', { name: 'Save' }).click();
  assert.match(await plain.locator('main').innerText(), /does not wait any more; it was sent or removed/);
  assert.equal(await plain.locator('textarea').inputValue(), 'too late');
  await plain.getByRole('button', { name: 'Send' }).click();
  await page.locator('.rows .user').filter({ hasText: 'too late' }).waitFor();
});

scenario('Stop holds what waits, and a person sends it', async (house) => {
  const page = await startRunning(house);
  await queue(page, 'second');
  await queue(page, 'third');
  await page.locator(PARTS.stop).click();
  await isOver(page);
  for (const text of ['second', 'third']) assert.match(await itemOf(page, text).innerText(), /held\s+You pressed Stop/);
  await waitForWords(page, PARTS.state, 'queued');
  assert.equal(await page.locator(PARTS.send).innerText(), 'Send');
  await page.reload();
  await itemOf(page, 'third').getByRole('button', { name: 'Send now' }).click();
  await waitForQueue(page, ['second']);
  await isOver(page);
  assert.deepEqual(await said(page), ['first', 'third', 'third']);
});

const LONG_QUEUE = {
  session: {
    id: 'long',
    title: 'A long queue',
    agent: 'nobody',
    waiting: Array.from({ length: 100 }, (_, n) => ({ id: `q${n}`, text: `Prompt ${n}\nwith a second line`, held: 'The turn before it failed.' })),
  },
  messages: [{ id: 'm1', role: 'user', text: 'The beginning' }],
};

for (const [screen, settings] of Object.entries(SCREENS)) {
  scenario(`a hundred prompts that wait leave room for what was said, ${screen}`, async (house) => {
    await house.import(LONG_QUEUE);
    await house.serve();
    const page = await house.page(settings);
    await page.goto(house.address('/s/long'));
    assert.equal(await page.locator(PARTS.queued).count(), 100);
    await assertFits(page);
    const { height } = await page.locator('.queue').boundingBox();
    assert.ok(height < settings.viewport.height * 0.75, `the queue is ${height} px high`);
    const last = itemOf(page, 'Prompt 99');
    const remove = last.getByRole('button', { name: 'Remove' });
    // On a busy machine the page may still be coming to rest under the pointer: a click that moves away with it is no click.
    await remove.click();
    await last.waitFor({ state: 'detached', timeout: 5000 }).catch(() => remove.click());
    await last.waitFor({ state: 'detached' });
    assert.equal(await page.locator(PARTS.queued).count(), 99);
  });
}
