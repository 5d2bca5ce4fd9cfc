// What a person is asked: all of it can be read before anyone decides, it can be answered in one place, and that place is
// never far.

import assert from 'node:assert/strict';
import { SCREENS, scenario } from './scenario.mjs';
import { PARTS, allow, assertFits, prompt, startAgent, waitForRequestOrEnd } from './transcript.mjs';

const PHONE = { ...SCREENS.phone, viewport: { width: 360, height: 740 } };

const COMMAND = `printf '%s' ${'abcdefgh '.repeat(90)}&& rm -rf ./target`;

const OPTIONS = [
  { optionId: 'yes', name: 'Yes', kind: 'allow_once' },
  { optionId: 'always', name: "Yes, and don't ask again for printf commands in this directory", kind: 'allow_always' },
  { optionId: 'no', name: 'No', kind: 'reject_once' },
];

const say = (text) => ({ update: { sessionUpdate: 'agent_message_chunk', content: { type: 'text', text } } });
const tool = (toolCallId, more = {}) => ({
  update: { sessionUpdate: 'tool_call', toolCallId, title: toolCallId, kind: 'read', status: 'completed', ...more },
});
const ask = (toolCallId, more) => ({ ask: { options: OPTIONS, toolCall: { toolCallId, status: 'pending', ...more } } });

/** As Gemini asks: the command stands in the title alone. */
const askForCommand = (id, title = COMMAND) => ask(id, { title, kind: 'execute' });

const LONG_REPLY = Array.from({ length: 40 }, (_, n) => `${n}. A line of a plan that takes its room.`).join('\n');

async function startAsking(house, settings, steps) {
  await house.agent('scripted', steps);
  await house.serve();
  const page = await house.page(settings);
  await startAgent(house, page, 'scripted');
  await prompt(page, 'Do it.');
  assert.ok(await waitForRequestOrEnd(page), 'the agent asks');
  return page;
}

/** For each open request on the page, how many sets of its options are shown. */
function shownSets(page) {
  return page.evaluate(() => {
    const sets = {};
    for (const card of document.querySelectorAll('.permission')) {
      sets[card.dataset.request] ??= 0;
      if (card.querySelector('button[name=option]')?.checkVisibility()) sets[card.dataset.request] += 1;
    }
    return Object.values(sets);
  });
}

/** Whether all shown options stand in the view, above the composer or in the bar, and in no scroller of their own. */
function optionsAreInView(page) {
  return page.evaluate(() => {
    const composer = document.querySelector('.composer').getBoundingClientRect();
    const shown = [...document.querySelectorAll('.permission button[name=option]')].filter((it) => it.checkVisibility());
    const scrolls = (element) => element !== document.documentElement && element.scrollHeight > element.clientHeight + 1 && /auto|scroll/.test(getComputedStyle(element).overflowY);
    const isNested = (element) => element !== null && (scrolls(element) || isNested(element.parentElement));
    return shown.length > 0 && shown.every((button) => {
      const { top, bottom } = button.getBoundingClientRect();
      return top >= 0 && bottom <= composer.top && !isNested(button.parentElement);
    });
  });
}

async function waitForOptionsInView(page) {
  for (let tries = 0; tries < 100; tries += 1) {
    if (await optionsAreInView(page)) return;
    await page.waitForTimeout(50);
  }
  assert.fail('the options are not in view');
}

for (const [screen, settings] of [['desktop', SCREENS.desktop], ['phone', PHONE]]) {
  scenario(`a command that stands only in a title can be read in full and answered, ${screen}`, async (house) => {
    const page = await startAsking(house, settings, [say(LONG_REPLY), askForCommand('c1')]);
    await waitForOptionsInView(page);
    await assertFits(page);
    const request = page.locator('.permission .request').filter({ visible: true });
    assert.equal(await request.locator('pre.command').innerText(), COMMAND);
    const [hidden, told] = await request.evaluate((it) => [it.scrollHeight > it.clientHeight + 4, it.hasAttribute('data-more')]);
    assert.equal(told, hidden, 'what is hidden of a request is told');
    assert.equal(await page.locator('.hint').filter({ visible: true }).count(), 0);

    // Its place is in view, so nothing else speaks of it; from elsewhere one line leads back.
    await page.locator(PARTS.question).waitFor({ state: 'hidden' });
    await page.evaluate(() => window.scrollTo(0, 0));
    const line = page.locator(PARTS.question);
    await line.waitFor();
    assert.ok((await line.boundingBox()).height < 32, 'it is one line');
    assert.deepEqual(await shownSets(page), [1]);
    await line.click();
    await waitForOptionsInView(page);
    await line.waitFor({ state: 'hidden' });
    await page.waitForTimeout(600);
    await allow(page);
    await page.locator(PARTS.stop).waitFor({ state: 'hidden' });
  });
}

scenario('every question has one set of options, whatever is open or closed around it', async (house) => {
  const page = await startAsking(house, SCREENS.desktop, [
    tool('before'),
    { update: { sessionUpdate: 'plan', entries: [{ content: 'Make', priority: 'high', status: 'in_progress' }] } },
    tool('helper', { kind: 'think', title: 'A helper', status: 'in_progress' }),
    askForCommand('c1', 'make one'),
    askForCommand('c2', 'make two'),
  ]);
  assert.equal(await page.locator(PARTS.activity).count(), 2);
  const row = page.locator(PARTS.activity).last();
  await page.waitForFunction(() => document.querySelectorAll('.bar .question').length === 2);
  const assertOneEach = async () => assert.deepEqual(await shownSets(page), [1, 1]);
  await assertOneEach();
  await page.locator(`${PARTS.activity} > summary`).first().click();
  await assertOneEach();
  await row.locator(':scope > summary').click();
  await assertOneEach();
  await row.locator('.call > summary').first().click();
  await assertOneEach();
});

scenario('without script the line above the composer leads to the question', async (house) => {
  const page = await startAsking(house, SCREENS.desktop, [say(LONG_REPLY), askForCommand('c1')]);
  const plain = await house.page({ ...SCREENS.desktop, javaScriptEnabled: false });
  await plain.goto(page.url());
  const line = plain.locator(PARTS.question);
  assert.equal(await line.count(), 1);
  assert.equal(await plain.locator(PARTS.option).filter({ visible: true }).count(), OPTIONS.length);
  await line.click();
  assert.equal(await plain.locator(PARTS.option).filter({ visible: true }).count(), OPTIONS.length);
  const { y, height } = await plain.locator(PARTS.option).filter({ visible: true }).last().boundingBox();
  const composer = await plain.locator('.composer').boundingBox();
  assert.ok(y >= 0 && y + height <= composer.y, `the options stand at ${y}`);
});

scenario('a page whose window has not the call holds the whole question in its bar, phone', async (house) => {
  const rounds = Array.from({ length: 60 }, (_, n) => [say(`Round ${n}. `), tool(`r${n}`)]).flat();
  const page = await startAsking(house, PHONE, [...rounds, askForCommand('c1')]);
  assert.equal(await page.locator(`.bar ${PARTS.option}`).count(), 0);
  for (const earlier = page.locator('a[rel=prev]'); (await earlier.count()) > 0;) {
    await page.goto(await earlier.evaluate((link) => link.href));
  }
  await page.locator(`.bar ${PARTS.option}`).first().waitFor();
  assert.equal(await page.locator(PARTS.question).count(), 0);
  assert.deepEqual(await shownSets(page), [1]);
  const [first, last] = await page.locator(`.bar ${PARTS.option}`).evaluateAll((all) => [all[0].getBoundingClientRect().top, all.at(-1).getBoundingClientRect().bottom]);
  const composer = await page.locator('.composer').boundingBox();
  assert.ok(first >= 0 && last <= composer.y, 'the options are reached without scrolling');
  await assertFits(page);
});

scenario('a stopped turn says what became of its question', async (house) => {
  const page = await startAsking(house, SCREENS.desktop, [askForCommand('c1', 'make')]);
  await page.locator(PARTS.stop).click();
  await page.locator(PARTS.stop).waitFor({ state: 'hidden' });
  await page.locator(`${PARTS.activity} > summary`).first().click();
  await page.locator('.call > summary').first().click();
  assert.match(await page.locator('.call-body').first().innerText(), /Asked; the turn was stopped first/);
});

scenario('while the server is away nothing is claimed and nothing can be sent', async (house) => {
  const page = await startAsking(house, SCREENS.desktop, [askForCommand('c1', 'make')]);
  await page.locator(PARTS.composer).fill('Kept');
  await house.crash();
  await page.locator('body.offline').waitFor();
  for (const button of [PARTS.stop, `main ${PARTS.option}`]) {
    assert.ok(await page.locator(button).filter({ visible: true }).first().isDisabled(), button);
  }
  assert.ok(await page.locator('.hint.away').isVisible());
  assert.match(await page.title(), /Not connected/);

  await house.serveAgain();
  await page.locator('body:not(.offline)').waitFor();
  await page.locator(PARTS.stop).waitFor({ state: 'hidden' });
  assert.ok(await page.locator(PARTS.send).isEnabled());
  assert.equal(await page.locator(PARTS.composer).inputValue(), 'Kept');
  assert.doesNotMatch(await page.title(), /Not connected|Needs you/);
});
