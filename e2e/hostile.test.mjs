// Whatever an agent, a tool or a file says is text: it runs nothing, loads nothing and goes nowhere.

import assert from 'node:assert/strict';
import { scenario } from './scenario.mjs';

/** Every place has its own number, so that each can be found again on the page. */
const PLACES = [
  'title', 'user', 'text', 'thinking', 'error', 'server', 'tool title', 'path', 'command', 'output', 'old text',
  'new text', 'feedback', 'plan entry', 'plan text', 'notice', 'result', 'language', 'link text',
];

/** Markup that would load `probe` and run a script; no quotes, so that it stands in any text as it is. */
function markup(place) {
  const number = PLACES.indexOf(place);
  assert.notEqual(number, -1, place);
  return `<img src=/probe-${number} onerror=window.ran=${number}>`;
}

const SCRIPT = '<script>window.ran=true</script>';

const UNSAFE_LINKS = [
  `[${markup('link text')}](https://probe.invalid/)`,
  '[run](javascript:window.ran=true)',
  '[data](data:text/html,<script>window.ran=true</script>)',
  '![picture](https://probe.invalid/probe.png)',
  '<javascript:window.ran=true>',
].join('\n\n');

const CODE = `~~~${markup('language')}\n${SCRIPT}\n~~~`;

function text(content) {
  return { type: 'content', content: { type: 'text', text: content } };
}

const CALLS = [
  { id: 'c1', kind: 'other', title: markup('tool title'), state: 'completed', output: [text(markup('output') + SCRIPT)] },
  { id: 'c2', name: 'run', server: markup('server'), kind: 'other', title: 'run', state: 'completed', input: { a: SCRIPT } },
  {
    id: 'c3',
    kind: 'edit',
    title: 'edit',
    state: 'completed',
    locations: [{ path: markup('path') }],
    output: [{ type: 'diff', path: markup('path'), oldText: markup('old text'), newText: markup('new text') + SCRIPT }],
  },
  { id: 'c4', kind: 'execute', title: 'run', state: 'denied', input: { command: markup('command') }, feedback: markup('feedback') },
];

const TRANSCRIPT = {
  session: {
    id: 'hostile',
    title: markup('title'),
    agent: SCRIPT,
    root: '/home/me/app',
    turns: [{ id: 't1', state: 'completed', stop_reason: 'end_turn' }],
  },
  messages: [
    { id: 'm1', turn: 't1', role: 'user', text: `${markup('user')}\n\n${SCRIPT}` },
    {
      id: 'm2',
      turn: 't1',
      role: 'assistant',
      state: 'complete',
      parts: [
        { type: 'thinking', text: markup('thinking') },
        { type: 'text', text: `Before the calls ${SCRIPT}` },
        ...CALLS.map((call) => ({ type: 'call', call })),
      ],
    },
    { id: 'm3', turn: 't1', role: 'plan', stream: 'c1', entries: [{ content: markup('plan entry'), status: 'pending', priority: 'high' }] },
    { id: 'm4', turn: 't1', role: 'plan', text: `${markup('plan text')}\n\n${SCRIPT}` },
    { id: 'm5', turn: 't1', role: 'notice', level: 'error', code: 'probe', text: markup('notice') },
    { id: 'm6', turn: 't1', role: 'tool', call: 'nowhere', text: markup('result') },
    {
      id: 'm7',
      turn: 't1',
      role: 'assistant',
      state: 'complete',
      error: markup('error'),
      parts: [{ type: 'text', text: [markup('text'), SCRIPT, UNSAFE_LINKS, CODE].join('\n\n') }],
    },
  ],
};

/** What a page does that text must never make it do. */
function watch(page, origin) {
  const deeds = [];
  page.on('dialog', (dialog) => {
    deeds.push(`dialog ${dialog.message()}`);
    dialog.dismiss().catch(() => {});
  });
  page.on('popup', (popup) => deeds.push(`popup ${popup.url()}`));
  page.on('request', (request) => {
    const isOurs = request.url().startsWith(`${origin}/`) && !request.url().includes('probe');
    if (!isOurs) deeds.push(`request ${request.url()}`);
  });
  return deeds;
}

/** Opens everything that opens, also what arrives by that. */
async function openEverything(page) {
  const closed = page.locator('main details:not([open]) > summary:visible');
  // Each click opens one; the bound only keeps a page that closes them again from holding the test for ever.
  for (let clicks = 0; clicks < 200 && (await closed.count()) > 0; clicks += 1) await closed.first().click();
  assert.equal(await closed.count(), 0, 'everything is open');
}

async function assertNothingRan(page, deeds, address) {
  assert.deepEqual(deeds, []);
  assert.equal(page.url(), address);
  assert.equal(await page.evaluate(() => window.ran), undefined);
  const planted = await page.evaluate(() => ({
    images: document.querySelectorAll('[onerror], img[src*=probe]').length,
    scripts: [...document.scripts].filter((script) => script.text.trim() && script.type !== 'application/json').length,
    links: [...document.links].filter((link) => !/^(https?|mailto):$/.test(link.protocol)).length,
  }));
  assert.deepEqual(planted, { images: 0, scripts: 0, links: 0 });
}

async function waitForText(page, wanted) {
  try {
    await page.waitForFunction((text) => document.body.innerText.includes(text), wanted, { timeout: 10_000 });
  } catch {
    assert.fail(`the page does not show ${wanted}`);
  }
}

scenario('markup in what was said runs nothing and is shown as it was said', async (house) => {
  await house.import(TRANSCRIPT);
  await house.serve();
  const page = await house.page();
  const deeds = watch(page, new URL(house.address('/')).origin);

  const address = house.address('/s/hostile');
  await page.goto(address);
  await openEverything(page);
  await assertNothingRan(page, deeds, address);
  for (const place of PLACES.filter((place) => place !== 'language')) await waitForText(page, markup(place));
  await waitForText(page, SCRIPT);
  await assertNothingRan(page, deeds, address);
});

scenario('markup in a title runs nothing on the first page', async (house) => {
  await house.import(TRANSCRIPT);
  await house.serve();
  const page = await house.page();
  const deeds = watch(page, new URL(house.address('/')).origin);

  await page.goto(house.address('/'));
  await assertNothingRan(page, deeds, house.address('/'));
  await waitForText(page, markup('title'));
  await assertNothingRan(page, deeds, house.address('/'));
});

scenario('the page forbids what text could try', async (house) => {
  await house.import(TRANSCRIPT);
  await house.serve();
  const page = await house.page();
  const response = await page.goto(house.address('/s/hostile'));
  const policy = response.headers()['content-security-policy'] ?? '';
  assert.match(policy, /default-src 'none'|default-src 'self'/);
  assert.doesNotMatch(policy, /unsafe-inline|unsafe-eval|\*/);
});
