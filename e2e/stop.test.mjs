// Stop is shown at once, and an agent that does not heed it can be ended.

import assert from 'node:assert/strict';
import { SCREENS, scenario } from './scenario.mjs';
import { PARTS, assertFits, assertNoFaults, prompt, rowsOf, said, startAgent, waitForWords } from './transcript.mjs';

const OPTIONS = [{ optionId: 'yes', name: 'Yes', kind: 'allow_once' }];
const WAITS = { ask: { options: OPTIONS, toolCall: { toolCallId: 'c1', title: 'make', kind: 'execute', status: 'pending' } } };

for (const [screen, settings] of Object.entries(SCREENS)) {
  scenario(`Stop is shown at once, and Force ends an agent that goes on, ${screen}`, async (house) => {
    await house.agent('deaf', { ignoresCancel: true, turns: [[WAITS]] });
    await house.serve();
    const page = await house.page(settings);
    await startAgent(house, page, 'deaf');
    await prompt(page, 'Go');
    await page.locator(PARTS.option).filter({ visible: true }).first().waitFor();
    assert.equal(await page.locator(PARTS.force).count(), 0);
    const before = await page.locator(PARTS.stop).boundingBox();
    await page.locator(PARTS.stop).click();

    await page.locator(PARTS.force).waitFor();
    const after = await page.locator(PARTS.stop).boundingBox();
    const { x, y } = { x: before.x + before.width / 2, y: before.y + before.height / 2 };
    const isMet = x >= after.x && x <= after.x + after.width && y >= after.y && y <= after.y + after.height;
    assert.ok(isMet, 'a second press meets Stop again, not Force');
    assert.ok(await page.locator(PARTS.stop).isDisabled());
    assert.match(await page.locator(PARTS.stop).innerText(), /Stopping…/);
    assert.match(await page.locator('#hint').innerText(), /Force ends its process/);
    assert.match(await page.title(), /^Stopping · Go/);
    await waitForWords(page, PARTS.state, 'stopping');
    await assertFits(page);
    await page.reload();
    assert.match(await page.locator(PARTS.stop).innerText(), /Stopping…/);

    await page.locator(PARTS.force).click();
    await page.locator(PARTS.stop).waitFor({ state: 'hidden' });
    await waitForWords(page, PARTS.state, 'stopped');
    const rows = await rowsOf(page);
    await page.reload();
    assert.deepEqual(await rowsOf(page), rows);
    await assertNoFaults(page);
  });
}

scenario('without script Stop and Force are there too', async (house) => {
  await house.agent('deaf', { ignoresCancel: true, turns: [[WAITS], [{ echo: true }]] });
  await house.serve();
  const page = await house.page();
  await startAgent(house, page, 'deaf');
  await prompt(page, 'Go');
  const plain = await house.page({ ...SCREENS.desktop, javaScriptEnabled: false });
  await plain.goto(page.url());
  await plain.locator(PARTS.stop).click();
  await plain.locator(PARTS.force).click();
  await plain.locator(PARTS.state).filter({ hasText: 'stopped' }).waitFor();
  assert.equal(await plain.locator(PARTS.stop).count(), 0);
  assert.deepEqual(await said(plain), ['Go']);
});
