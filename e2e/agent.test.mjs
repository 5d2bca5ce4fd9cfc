// How an agent is that cannot be talked to yet, or no more: a person is told, and can do something about it.

import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { SCREENS, scenario } from './scenario.mjs';
import { PARTS, assertFits, assertNoFaults, said, startAgent, waitForWords } from './transcript.mjs';

const PHONE = { ...SCREENS.phone, viewport: { width: 360, height: 740 } };

async function begin(house, settings, script) {
  await house.agent('scripted', script);
  await house.serve();
  const page = await house.page(settings);
  await startAgent(house, page, 'scripted');
  return page;
}

async function send(page, text) {
  await page.locator(PARTS.composer).fill(text);
  await page.locator(PARTS.send).click();
}

for (const [screen, settings] of [['desktop', SCREENS.desktop], ['phone', PHONE]]) {
  scenario(`an agent that starts says since when, and the first prompt waits for it, ${screen}`, async (house) => {
    const gate = join(house.folder, 'gate');
    const print = `npm: fetching ${'a-package-with-a-long-name/'.repeat(8)}`;
    const page = await begin(house, settings, { start: { print, until: gate }, turns: [[{ echo: true }]] });
    await waitForWords(page, '.starting', 'npm: fetching');
    await waitForWords(page, PARTS.state, 'starting');
    assert.match(await page.title(), /^Starting · /);
    assert.equal(await page.locator(PARTS.stop).count(), 0);
    await send(page, 'Hello');
    await page.locator(PARTS.queued).waitFor();
    await page.locator(PARTS.stop).waitFor();
    // The clock goes on by itself.
    const seconds = /\((\d+) s\)/;
    const before = seconds.exec(await page.locator('.starting .elapsed').innerText())[1];
    await page.waitForFunction((before) => !document.querySelector('.starting .elapsed').textContent.includes(`(${before} s)`), before);
    assert.match(await page.locator('.starting .elapsed').innerText(), seconds);
    await assertFits(page);
    await page.reload();
    await page.locator(PARTS.queued).waitFor();
    await page.goto(house.address('/'));
    await waitForWords(page, '.sessions li', 'starting');
    await page.goBack();

    await writeFile(gate, '');
    await page.locator(PARTS.stop).waitFor({ state: 'hidden' });
    assert.deepEqual(await said(page), ['Hello', 'Hello']);
    assert.equal(await page.locator('.starting').count(), 0);
    await assertNoFaults(page);
  });

  scenario(`an agent that cannot be started says why, and is tried again, ${screen}`, async (house) => {
    const licence = join(house.folder, 'licence');
    const start = { print: 'Error: no licence\n  at start (agent.js:1)', exit: 3, unless: licence };
    const page = await begin(house, settings, { start, turns: [[{ echo: true }]] });
    await waitForWords(page, '.agent.failed', 'exit code 3');
    assert.match(await page.locator('.agent.failed .printed').innerText(), /no licence\n  at start/);
    assert.match(await page.title(), /^Failed · /);
    await assertFits(page);
    await page.reload();
    await waitForWords(page, '.agent.failed', 'exit code 3');

    // A prompt tries again; what it fails for is told once.
    await send(page, 'Hello');
    await waitForWords(page, PARTS.notice, 'exit code 3');
    await waitForWords(page, '.agent.failed', 'for the reason above');
    assert.equal((await page.locator('main').innerText()).match(/exit code 3/g).length, 1);

    await writeFile(licence, '');
    await page.getByRole('button', { name: 'Try again' }).click();
    await page.locator('.agent.failed').waitFor({ state: 'detached' });
    await send(page, 'Hello again');
    await page.locator('.rows .reply').filter({ hasText: 'Hello again' }).waitFor();
    await assertFits(page);
    await assertNoFaults(page);
  });

  scenario(`an agent that wants a login offers its ways, ${screen}`, async (house) => {
    const login = [
      { id: 'key', name: 'Use an API key', description: 'Taken from the environment of Pleat.' },
      { id: 'account', name: 'Log in with an account', type: 'terminal', args: ['--login'] },
    ];
    const page = await begin(house, settings, { start: { login }, turns: [[{ echo: true }]] });
    await waitForWords(page, '.agent.login', 'Log in first');
    await waitForWords(page, PARTS.state, 'needs you');
    assert.match(await page.title(), /^Needs you · /);
    assert.match(await page.locator('.agent.login .command').innerText(), /agent\.mjs.* --login$/);
    await assertFits(page);
    await send(page, 'Hello');
    await page.locator(PARTS.queued).waitFor();
    await page.reload();
    await page.getByRole('button', { name: 'Use an API key' }).click();
    await page.locator('.rows .reply').filter({ hasText: 'Hello' }).waitFor();
    assert.equal(await page.locator('.agent').count(), 0);
    await assertNoFaults(page);
  });
}

scenario('the head tells mode, model, context and usage', async (house) => {
  const modes = { currentModeId: 'plan', availableModes: [{ id: 'plan', name: 'Plan first' }] };
  const models = { currentModelId: 'big', availableModels: [{ modelId: 'big', name: 'Big' }] };
  const usage = { totalTokens: 2_000_000, inputTokens: 1_900_000, outputTokens: 100_000, cachedReadTokens: 1_500_000 };
  const gauge = { update: { sessionUpdate: 'usage_update', used: 218_000, size: 512_000 } };
  const page = await begin(house, PHONE, { session: { modes, models }, answer: { usage }, turns: [[gauge, { echo: true }]] });
  await waitForWords(page, '.top .facts', 'Plan first');
  await send(page, 'Hello');
  await waitForWords(page, '.top .used', '43 % of the context used: 218,000 of 512,000');
  await waitForWords(page, '.top .used', 'Last turn: 2,000,000 tokens (1,900,000 in, 100,000 out, 1,500,000 from the cache)');
  assert.match(await page.locator('.top .facts').first().innerText(), /Model: Big\s+Mode: Plan first/);
  await assertFits(page);
});
