// The built program, run as a person would run it: on a free port, with a data folder of its own.

import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const BINARY = process.env.PLEAT_BINARY ?? fileURLToPath(new URL('../target/release/pleat', import.meta.url));

const AGENT = fileURLToPath(new URL('agent.mjs', import.meta.url));

/** How long a start or an end may take before it counts as failed. */
const PATIENCE_MS = 20_000;

/** A command of `pleat` on the data folder in `home`; its output, or an error with what it said. */
export async function runPleat(home, words) {
  const { stdout } = await promisify(execFile)(BINARY, [...words, '--data', dataFolder(home)], options(home));
  return stdout;
}

/** Imports a transcript document. */
export async function importDocument(home, transcript) {
  const file = join(home, `${transcript.session.id}.json`);
  await writeFile(file, JSON.stringify(transcript));
  await runPleat(home, ['import', file]);
}

/** Makes an agent known that plays a script. */
export async function configureAgent(home, name, steps) {
  const script = join(home, `${name}.json`);
  await writeFile(script, JSON.stringify(steps));
  const folder = join(home, 'config', 'pleat');
  await mkdir(folder, { recursive: true });
  const command = [`command = ${JSON.stringify(process.execPath)}`, `args = ${JSON.stringify([AGENT, script])}`];
  await writeFile(join(folder, 'pleat.toml'), [`[agents.${name}]`, ...command, ''].join('\n'));
}

/** Starts the server and waits for the link that it prints. */
export async function startServer(home, port = 0) {
  const words = ['--data', dataFolder(home), '--listen', `127.0.0.1:${port}`, '--no-open'];
  const server = new Server(spawn(BINARY, words, { ...options(home), stdio: ['ignore', 'pipe', 'pipe'] }));
  try {
    server.link = await server.readLink();
  } catch (error) {
    await server.kill();
    throw error;
  }
  return server;
}

class Server {
  /** The link that logs a browser in. */
  link = null;
  /** What it said on stderr so far. */
  stderr = '';
  #child;
  #ended;

  constructor(child) {
    this.#child = child;
    this.#ended = once(child, 'close');
    // Whoever waits for the end hears of it; nobody has to.
    this.#ended.catch(() => {});
    child.stderr.setEncoding('utf8').on('data', (text) => (this.stderr += text));
  }

  /** The address of a path of its page. */
  address(path) {
    return new URL(path, this.link).href;
  }

  async readLink() {
    const lines = createInterface({ input: this.#child.stdout });
    const link = new Promise((resolve) => {
      lines.on('line', (line) => {
        const found = /http:\/\/\S+\/login\?token=\S+/.exec(line);
        if (found) resolve(found[0]);
      });
    });
    const ended = this.#ended.then(([code]) => {
      throw new Error(`pleat ended with ${code} before it printed its link: ${this.stderr}`);
    });
    ended.catch(() => {});
    return within(Promise.race([link, ended]), () => `pleat printed no link: ${this.stderr}`);
  }

  /** Asks it to end, and insists. */
  async stop() {
    this.#child.kill('SIGTERM');
    try {
      await within(this.#ended, () => 'pleat did not end on SIGTERM');
    } catch (error) {
      await this.kill();
      throw error;
    }
  }

  /** Ends it as a crash would: `kill -9`. */
  async kill() {
    this.#child.kill('SIGKILL');
    await this.#ended.catch(() => {});
  }
}

function dataFolder(home) {
  return join(home, 'data');
}

/** The home is the test's own, so that nobody's configuration or agents' settings matter. */
function options(home) {
  const env = { ...process.env, HOME: home, XDG_CONFIG_HOME: join(home, 'config'), XDG_DATA_HOME: join(home, 'share') };
  return { cwd: home, env };
}

/** The promise's value, or an error once the patience is over. */
async function within(promise, complaint) {
  let timer;
  const late = new Promise((_, reject) => {
    timer = setTimeout(() => reject(new Error(complaint())), PATIENCE_MS);
  });
  try {
    return await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
  }
}
