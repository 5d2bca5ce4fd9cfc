// A growing plan that was stored as snapshots without identity is one card with its newest text.

import assert from 'node:assert/strict';
import { SCREENS, scenario } from './scenario.mjs';
import { PARTS, assertFits, assertNoFaults } from './transcript.mjs';

const FIRST = '## Plan\n\n1. Read the parser\n2. Write a test';
const NEWEST = `${FIRST}\n3. Fix the edge case`;

const TRANSCRIPT = {
  session: {
    id: 'growing-plan',
    title: 'A growing plan',
    agent: 'recorded',
    root: '/home/me/app',
    turns: [{ id: 't1', state: 'completed', stop_reason: 'end_turn' }],
  },
  messages: [
    { id: 'm1', turn: 't1', role: 'user', text: 'Plan the fix.' },
    { id: 'm2', turn: 't1', role: 'plan', text: FIRST },
    { id: 'm3', turn: 't1', role: 'plan', text: NEWEST },
    { id: 'm4', turn: 't1', role: 'assistant', state: 'complete', parts: [{ type: 'text', text: 'That is the plan.' }] },
  ],
};

async function assertOnePlan(page) {
  const plan = page.locator(PARTS.plan);
  await plan.first().waitFor();
  assert.equal(await plan.count(), 1);
  const words = await plan.innerText();
  assert.equal(words.match(/Read the parser/g)?.length, 1, words);
  assert.match(words, /Fix the edge case/);
  await assertFits(page);
}

for (const [screen, settings] of Object.entries(SCREENS)) {
  scenario(`two snapshots of a growing plan are one card, ${screen}`, async (house) => {
    await house.import(TRANSCRIPT);
    await house.serve();
    const page = await house.page(settings);
    const live = page.waitForResponse((response) => /\/events\b/.test(response.url()));
    await page.goto(house.address('/s/growing-plan'));
    await assertOnePlan(page);
    await live;
    await assertOnePlan(page);
    await page.reload();
    await assertOnePlan(page);
    await assertNoFaults(page);
  });
}

scenario('two snapshots of a growing plan are one card, without script', async (house) => {
  await house.import(TRANSCRIPT);
  await house.serve();
  const page = await house.page({ ...SCREENS.desktop, javaScriptEnabled: false });
  await page.goto(house.address('/s/growing-plan'));
  assert.equal(await page.locator(PARTS.plan).count(), 1);
  assert.match(await page.locator(PARTS.plan).innerText(), /Fix the edge case/);
});
