// A test with everything it needs: a home folder, servers and pages, all gone when it ends.

import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { existsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import test, { after } from 'node:test';
import { fileURLToPath } from 'node:url';
import { chromium } from 'playwright-core';
import { configureAgent, importDocument, startServer } from './pleat.mjs';

/** How a page looks to a person at a desk, with a phone, and with the smallest phone there is. */
export const SCREENS = {
  desktop: { viewport: { width: 1280, height: 800 } },
  phone: { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true, deviceScaleFactor: 2 },
  small: { viewport: { width: 320, height: 640 }, hasTouch: true, isMobile: true, deviceScaleFactor: 2 },
};

const PATIENCE_MS = 30_000;
const WATCH = fileURLToPath(new URL('watch.js', import.meta.url));
const PICTURES = fileURLToPath(new URL('artifacts/', import.meta.url));

let browser = null;

after(async () => browser?.close());

/** A test whose body is given a {@link House}; when it fails, the servers' words are shown and the pages pictured. */
export function scenario(name, body) {
  test(name, { timeout: 8 * PATIENCE_MS }, async (t) => {
    const house = new House(await mkdtemp(join(tmpdir(), 'pleat-e2e-')));
    try {
      await body(house);
      await house.close();
    } catch (error) {
      for (const line of await house.evidence(name)) t.diagnostic(line);
      await house.close().catch((failure) => t.diagnostic(String(failure)));
      throw error;
    }
  });
}

class House {
  #contexts = [];
  #home;
  #server = null;
  #words = [];

  constructor(home) {
    this.#home = home;
  }

  /** A folder for an agent to work in. */
  get folder() {
    return this.#home;
  }

  /** Stores a transcript document. */
  async import(transcript) {
    await importDocument(this.#home, transcript);
  }

  /** Makes an agent known that plays a script (see agent.mjs). */
  async agent(name, steps) {
    await configureAgent(this.#home, name, steps);
  }

  /** Starts a server on what is stored. */
  async serve() {
    this.#server = await startServer(this.#home);
  }

  /** Ends the server as a crash would, and starts another on what is stored. */
  async crashAndServe() {
    await this.crash();
    await this.serve();
  }

  /** Ends the server as a crash would. */
  async crash() {
    this.#words.push(this.#server.stderr);
    await this.#server.kill();
  }

  /** Starts a server where the last one was. */
  async serveAgain() {
    this.#server = await startServer(this.#home, new URL(this.#server.link).port);
  }

  /** The address of a path. */
  address(path) {
    return this.#server.address(path);
  }

  /** A page of a browser that has followed the link; `settings` are those of a browser context. */
  async page(settings = SCREENS.desktop) {
    browser ??= await launch();
    const context = await browser.newContext(settings);
    this.#contexts.push(context);
    context.setDefaultTimeout(PATIENCE_MS);
    await context.addInitScript({ path: WATCH });
    const page = await context.newPage();
    await page.goto(this.#server.link);
    // The answer to the link sends the browser on to the first page.
    await page.waitForURL(this.address('/'));
    return page;
  }

  /** What helps to understand a failure; also pictures of every page. */
  async evidence(name) {
    await mkdir(PICTURES, { recursive: true });
    const lines = [...this.#words, this.#server?.stderr ?? ''].join('').split('\n').filter(Boolean);
    const pages = this.#contexts.flatMap((context) => context.pages());
    for (const [index, page] of pages.entries()) {
      const file = join(PICTURES, `${name.replaceAll(/\W+/g, '-')}-${index}.png`);
      const taken = await page.screenshot({ path: file, timeout: 5_000 }).catch(() => null);
      if (taken) lines.push(`${page.url()} is pictured in ${file}`);
    }
    return lines;
  }

  /** Ends everything. */
  async close() {
    await Promise.all(this.#contexts.map((context) => context.close()));
    try {
      await this.#server?.stop();
    } finally {
      await rm(this.#home, { recursive: true, force: true });
    }
  }
}

function launch() {
  // Root may not use Chromium's sandbox; every other switch keeps it from calling out.
  const sandbox = process.getuid?.() === 0 ? ['--no-sandbox'] : [];
  const quiet = [
    '--disable-gpu',
    '--disable-quic',
    '--no-first-run',
    '--disable-background-networking',
    '--disable-component-update',
    '--disable-sync',
  ];
  return chromium.launch({ executablePath: chromiumPath(), args: [...sandbox, ...quiet] });
}

function chromiumPath() {
  const onPath = (process.env.PATH ?? '').split(delimiter).map((folder) => join(folder, 'chromium'));
  const found = process.env.CHROMIUM ?? onPath.find((file) => existsSync(file));
  if (!found) throw new Error('Chromium is not on PATH: install it, or name it in the variable CHROMIUM.');
  return found;
}
