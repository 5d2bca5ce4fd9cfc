// A question that is shown in two browsers is answered once, and the other is told.

import assert from 'node:assert/strict';
import { SCREENS, scenario } from './scenario.mjs';
import { PARTS, prompt, startAgent, waitForRequestOrEnd, waitForWords } from './transcript.mjs';

const OPTIONS = [
  { optionId: 'yes', name: 'Yes, once', kind: 'allow_once' },
  { optionId: 'no', name: 'No', kind: 'reject_once' },
];
const ASKS = { ask: { options: OPTIONS, toolCall: { toolCallId: 'c1', title: 'make', kind: 'execute', status: 'pending' } } };

async function startAsking(house) {
  await house.agent('scripted', [ASKS]);
  await house.serve();
  const page = await house.page();
  await startAgent(house, page, 'scripted');
  await prompt(page, 'Go');
  assert.ok(await waitForRequestOrEnd(page), 'the agent asks');
  return page;
}

const options = (page) => page.locator(PARTS.option).filter({ visible: true });
const request = (page) => page.locator('.permission').filter({ visible: true }).first().getAttribute('data-request');

async function assertAnswered(page) {
  await page.locator(`${PARTS.activity} > summary`).first().click();
  await page.locator('.call > summary').first().click();
  assert.match(await page.locator('.call-body').first().innerText(), /You chose Yes, once, \d/);
}

scenario('a question shows in both browsers, is answered once, and is gone in both', async (house) => {
  const page = await startAsking(house);
  const other = await house.page();
  await other.goto(page.url());
  await page.reload();
  assert.deepEqual([await options(page).count(), await options(other).count()], [2, 2]);
  assert.equal(await request(page), await request(other));

  await options(page).first().click();
  await page.locator(PARTS.stop).waitFor({ state: 'hidden' });
  await other.locator(PARTS.stop).waitFor({ state: 'hidden' });
  assert.deepEqual([await options(page).count(), await options(other).count()], [0, 0]);
  for (const each of [page, other]) await assertAnswered(each);
});

scenario('a second answer is told who was first and what that was', async (house) => {
  const page = await startAsking(house);
  const other = await house.page();
  // Its connection hangs, so that it still shows the question.
  const hanging = [];
  await other.route(/\/events\b/, (route) => hanging.push(route));
  await other.goto(page.url());
  await options(page).first().click();
  await page.locator(PARTS.stop).waitFor({ state: 'hidden' });
  await options(other).last().click();
  await waitForWords(other, PARTS.banner, 'This request was already answered: you chose “Yes, once”.');
  await Promise.all(hanging.map((route) => route.abort().catch(() => {})));
});

scenario('a second answer without script is told by a page that is no error page', async (house) => {
  const page = await startAsking(house);
  const plain = await house.page({ ...SCREENS.desktop, javaScriptEnabled: false });
  await plain.goto(page.url());
  await options(page).first().click();
  await page.locator(PARTS.stop).waitFor({ state: 'hidden' });
  const answered = plain.waitForResponse((response) => response.request().method() === 'POST');
  await options(plain).last().click();
  assert.equal((await answered).status(), 409);
  assert.equal(await plain.locator('h1').innerText(), 'Already answered');
  assert.match(await plain.locator('main').innerText(), /already answered: you chose “Yes, once”\./);
  await plain.getByRole('link', { name: 'Back to the session' }).click();
  await assertAnswered(plain);
});
