// What is written while a prompt is on its way, or after its answer was lost, is neither lost nor sent twice.

import assert from 'node:assert/strict';
import { scenario } from './scenario.mjs';
import { PARTS, prompt, queue, queued, startAgent, waitForQueue, waitForRequestOrEnd, waitForWords } from './transcript.mjs';

const WAITS = {
  ask: {
    options: [{ optionId: 'yes', name: 'Yes', kind: 'allow_once' }],
    toolCall: { toolCallId: 'c1', title: 'make', kind: 'execute', status: 'pending' },
  },
};
const PROMPTS = /\/prompt$/;

const composer = (page) => page.locator(PARTS.composer);
const send = (page) => page.locator(PARTS.send).click();

async function start(house) {
  await house.agent('scripted', [WAITS]);
  await house.serve();
  const page = await house.page();
  await startAgent(house, page, 'scripted');
  return page;
}

async function startRunning(house) {
  const page = await start(house);
  await prompt(page, 'first');
  assert.ok(await waitForRequestOrEnd(page), 'the first turn runs');
  return page;
}

/** The server takes the prompt, and the connection breaks before its answer. */
async function sendAndLoseAnswer(page, text) {
  await page.route(PROMPTS, async (route) => {
    const answer = await route.fetch();
    assert.equal(answer.status(), 204);
    await route.abort();
  }, { times: 1 });
  await composer(page).fill(text);
  await send(page);
  await waitForWords(page, PARTS.banner, 'Pleat cannot be reached');
  assert.equal(await composer(page).inputValue(), text);
}

/** The server takes the prompt, but its answer comes only when the function that is returned is called. */
async function sendAndHoldAnswer(page, text) {
  let hold;
  const held = new Promise((resolve) => { hold = resolve; });
  await page.route(PROMPTS, async (route) => hold({ route, response: await route.fetch() }), { times: 1 });
  await composer(page).fill(text);
  await send(page);
  const { route, response } = await held;
  assert.equal(response.status(), 204);
  return () => route.fulfill({ response });
}

const waitForDraft = (page, text) =>
  page.waitForFunction((wanted) => document.getElementById('prompt').value === wanted, text).catch(async () => {
    assert.equal(await composer(page).inputValue(), text);
  });

scenario('a prompt whose answer was lost is sent once, and one that was changed since is another', async (house) => {
  const page = await startRunning(house);
  await sendAndLoseAnswer(page, 'A');
  await waitForQueue(page, ['A']);
  await send(page);
  await waitForDraft(page, '');
  await sendAndLoseAnswer(page, 'B');
  await waitForQueue(page, ['A', 'B']);
  await composer(page).fill('B and C');
  await send(page);
  await waitForDraft(page, '');
  await waitForQueue(page, ['A', 'B', 'B and C']);
  // Back to a text that the server has.
  await sendAndLoseAnswer(page, 'D');
  await sendAndLoseAnswer(page, 'E');
  await composer(page).fill('D');
  await send(page);
  await waitForDraft(page, '');
  // Once it was taken the same text is a new prompt.
  await queue(page, 'F');
  await composer(page).fill('A');
  await send(page);
  const all = ['A', 'B', 'B and C', 'D', 'E', 'F', 'A'];
  await waitForQueue(page, all);
  await page.reload();
  assert.deepEqual(await queued(page), all);
});

scenario('what is typed while a prompt is being sent is the next draft', async (house) => {
  const page = await start(house);
  const answer = await sendAndHoldAnswer(page, 'Fix the build\n');
  // The page changes around the form: a turn runs.
  await page.locator(PARTS.stop).waitFor();
  await composer(page).press('End');
  await composer(page).pressSequentially('and the tests');
  await composer(page).press('Enter');
  await waitForWords(page, PARTS.banner, 'The prompt before is still being sent.');
  assert.equal(await composer(page).inputValue(), 'Fix the build\nand the tests');
  await answer();
  await waitForDraft(page, 'and the tests');
  assert.ok(await page.locator(PARTS.banner).isHidden(), 'the banner is gone');
  await page.reload();
  assert.equal(await composer(page).inputValue(), 'and the tests');
  assert.deepEqual(await queued(page), []);
  await send(page);
  await waitForDraft(page, '');
  await waitForQueue(page, ['and the tests']);
});

scenario('a draft that replaced the prompt being sent stays as it is', async (house) => {
  const page = await startRunning(house);
  const answer = await sendAndHoldAnswer(page, 'second');
  await waitForQueue(page, ['second']);
  await composer(page).fill('Something else');
  await answer();
  await page.locator('form.composer:not([data-busy])').waitFor();
  assert.equal(await composer(page).inputValue(), 'Something else');
  await page.reload();
  assert.equal(await composer(page).inputValue(), 'Something else');
});

scenario('what goes on below from a prompt that went stays while another is being sent', async (house) => {
  const page = await startRunning(house);
  await queue(page, 'second');
  const other = await house.page();
  await other.goto(page.url());
  const item = page.locator(PARTS.queued).filter({ hasText: 'second' });
  await item.locator('.edit > summary').click();
  await item.locator('.edit textarea').fill('second, half typed');
  // The blank at the end goes when something is put behind it.
  const answer = await sendAndHoldAnswer(page, 'third ');
  await other.locator(PARTS.queued).filter({ hasText: 'second' }).getByRole('button', { name: 'Remove' }).click();
  await waitForDraft(page, 'third\n\nsecond, half typed');
  await answer();
  await waitForDraft(page, 'second, half typed');
  await page.reload();
  assert.equal(await composer(page).inputValue(), 'second, half typed');
});
