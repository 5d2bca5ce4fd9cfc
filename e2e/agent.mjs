// An agent that plays a script over ACP: `node agent.mjs SCRIPT`, where SCRIPT is a file with a list of steps in JSON.
//
// `{"update": {…}}` says something, `{"ask": {"toolCall": {…}, "options": […]}}` asks for a permission. It does not wait for
// answers before its script is over; then it ends the turn once all are given.

import { readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';

const SESSION = 'scripted';
const steps = JSON.parse(readFileSync(process.argv[2], 'utf8'));
const send = (message) => process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);

let turn = null;
const open = new Set();

function end(stopReason) {
  if (turn === null) return;
  send({ id: turn, result: { stopReason } });
  turn = null;
}

function play() {
  for (const [index, { update, ask }] of steps.entries()) {
    if (update) send({ method: 'session/update', params: { sessionId: SESSION, update } });
    if (ask) {
      open.add(index);
      send({ id: index, method: 'session/request_permission', params: { sessionId: SESSION, ...ask } });
    }
  }
}

const answers = {
  initialize: () => ({ protocolVersion: 1, agentCapabilities: {}, authMethods: [] }),
  'session/new': () => ({ sessionId: SESSION }),
};

createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method } = JSON.parse(line);
  if (method === 'session/prompt') {
    turn = id;
    play();
    if (open.size === 0) end('end_turn');
  } else if (method === 'session/cancel') {
    end('cancelled');
  } else if (method === undefined) {
    open.delete(id);
    if (open.size === 0) end('end_turn');
  } else if (id !== undefined) {
    send(method in answers ? { id, result: answers[method]() } : { id, error: { code: -32601, message: method } });
  }
});
