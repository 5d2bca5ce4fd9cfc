// An agent that plays a script over ACP: `node agent.mjs SCRIPT`, where SCRIPT is a file in JSON. It is a list of steps, which
// it plays for every prompt, or an object:
//
// - `turns`: lists of steps, one for each prompt; the last is played for all that follow.
// - `ignoresCancel`: it goes on when it is told to stop.
// - `start`: what it does before it opens a session. `print`: words on stderr; `until`: a file, before which it answers
//   nothing; `exit`: the code that it ends with, unless the file `unless` is there; `login`: ACP's `authMethods`, by one of
//   which one must log in.
// - `session`: more of its answer to `session/new`.
// - `answer`: more of its answer to `session/prompt`.
//
// A step `{"update": {…}}` says something, `{"echo": true}` says the prompt, `{"ask": {"toolCall": {…}, "options": […]}}` asks
// for a permission. It does not wait for answers before its list is over; then it ends the turn once all are given.

import { existsSync, readFileSync, watch } from 'node:fs';
import { dirname } from 'node:path';
import { createInterface } from 'node:readline';

const SESSION = 'scripted';
const AUTHENTICATION_REQUIRED = -32000;
const script = JSON.parse(readFileSync(process.argv[2], 'utf8'));
const { turns, ignoresCancel = false, start = {}, session = {}, answer = {} } = Array.isArray(script) ? { turns: [script] } : script;
const send = (message) => process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);

let turn = null;
let turnsPlayed = 0;
let requests = 0;
let isLoggedIn = !start.login;
const open = new Set();

function end(stopReason) {
  if (turn === null) return;
  send({ id: turn, result: { stopReason, ...answer } });
  turn = null;
}

function say(update) {
  send({ method: 'session/update', params: { sessionId: SESSION, update } });
}

function play(prompt) {
  const steps = turns[Math.min(turnsPlayed, turns.length - 1)];
  turnsPlayed += 1;
  for (const { update, echo, ask } of steps) {
    if (update) say(update);
    if (echo) say({ sessionUpdate: 'agent_message_chunk', content: prompt[0] });
    if (ask) {
      const id = `request-${requests}`;
      requests += 1;
      open.add(id);
      send({ id, method: 'session/request_permission', params: { sessionId: SESSION, ...ask } });
    }
  }
}

/** Waits until a file is there. */
async function until(file) {
  if (existsSync(file)) return;
  await new Promise((resolve) => {
    const watcher = watch(dirname(file), () => {
      if (!existsSync(file)) return;
      watcher.close();
      resolve();
    });
    // It may have come before the watch.
    if (existsSync(file)) { watcher.close(); resolve(); }
  });
}

const answers = {
  initialize: () => ({ protocolVersion: 1, agentCapabilities: {}, authMethods: start.login ?? [] }),
  authenticate: () => { isLoggedIn = true; return {}; },
  'session/new': () => (isLoggedIn ? { sessionId: SESSION, ...session } : null),
};

function hear({ id, method, params, result }) {
  if (method === 'session/prompt') {
    turn = id;
    play(params.prompt);
    if (open.size === 0) end('end_turn');
  } else if (method === 'session/cancel') {
    if (!ignoresCancel) end('cancelled');
  } else if (method === undefined) {
    if (ignoresCancel && result?.outcome?.outcome === 'cancelled') return;
    open.delete(id);
    if (open.size === 0) end('end_turn');
  } else if (id !== undefined) {
    const given = answers[method]?.();
    if (given) send({ id, result: given });
    else if (method in answers) send({ id, error: { code: AUTHENTICATION_REQUIRED, message: 'Log in first' } });
    else send({ id, error: { code: -32601, message: method } });
  }
}

if (start.print) process.stderr.write(`${start.print}\n`);
if (start.exit !== undefined && !(start.unless && existsSync(start.unless))) process.exit(start.exit);
if (start.until) await until(start.until);
createInterface({ input: process.stdin }).on('line', (line) => hear(JSON.parse(line)));
