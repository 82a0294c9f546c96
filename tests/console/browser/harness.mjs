// A browser, logged in, that fails a test on any message in the console, any violation of the policy, any foreign request.
// CONSOLE_URL is the address of a running server, CONSOLE_LINK makes a login link: either a command that prints one
// (a link works once), or the link itself where it can be used again.
import assert from 'node:assert/strict';
import { execSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { chromium } from 'playwright-core';

if (!process.env.CONSOLE_URL || !process.env.CONSOLE_LINK) throw new Error('Set CONSOLE_URL and CONSOLE_LINK: the address of a running server, and a login link or a command that prints one.');
export const URL_ = process.env.CONSOLE_URL.replace(/\/$/, '');
export const WIDTHS = [1360, 900, 390];
export const THEMES = /** @type {const} */ (['light', 'dark']);

/** A new login link. */
export function link() {
  const from = process.env.CONSOLE_LINK ?? '';
  return /^https?:/.test(from) ? from : execSync(from, { encoding: 'utf8' }).trim();
}

/** @type {Promise<import('playwright-core').BrowserContext> | null} */
let context = null;
/** @type {Promise<import('playwright-core').BrowserContext> | null} */
let nobody = null;
/** @type {string} */
let folder;

/** A browser of its own, not logged in, in this folder. The caller closes it. @param {string} [profile] */
export async function fresh(profile = '') {
  const started = await chromium.launchPersistentContext(profile, {
    executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium', headless: true, viewport: { width: 1360, height: 800 },
    locale: 'en-GB', timezoneId: 'Europe/Berlin', reducedMotion: 'reduce', permissions: ['clipboard-write'],
    args: ['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking', '--disable-component-update', '--disable-sync'],
  });
  started.setDefaultTimeout(10_000);
  return started;
}

/** One browser for the whole run, logged in once. */
export function browser() {
  context ??= (async () => {
    folder = mkdtempSync(join(tmpdir(), 'console-'));
    const started = await fresh(folder);
    const page = started.pages()[0] ?? await started.newPage();
    await page.goto(link());
    await page.locator('nav.rail, nav.tabbar').first().waitFor({ state: 'attached' });
    assert.ok(!page.url().includes('#link'), 'the link is taken out of the address');
    await page.goto('about:blank');
    return started;
  })();
  return context;
}

export async function close() {
  for (const one of [context, nobody]) await (await one)?.close();
  if (folder) rmSync(folder, { recursive: true, force: true });
}

/**
 * Opens a page of the console, runs the body, and checks that the browser had nothing to complain about.
 * @param {string} path
 * @param {(page: import('playwright-core').Page) => Promise<void>} body
 * @param {{ width?: number, height?: number, theme?: 'light' | 'dark', allow?: RegExp, stranger?: boolean }} [how] `stranger`: by nobody who is logged in
 */
export async function visit(path, body, { width = 1360, height = 800, theme = 'light', allow, stranger = false } = {}) {
  const page = await (await (stranger ? (nobody ??= fresh()) : browser())).newPage();
  /** @type {string[]} */
  const said = [];
  page.on('console', (message) => said.push(`${message.text()} ${message.location().url}`));
  page.on('pageerror', (error) => said.push(String(error)));
  page.on('dialog', (dialog) => { said.push(`a dialog: ${dialog.message()}`); dialog.dismiss(); });
  page.on('request', (request) => {
    const address = request.url();
    if (!address.startsWith(URL_) && !address.startsWith('data:') && !address.startsWith('about:')) said.push(`a request to ${address}`);
  });
  await page.addInitScript(() => {
    document.addEventListener('securitypolicyviolation', (event) => console.error(`policy: ${event.violatedDirective} ${event.blockedURI} ${event.sourceFile}:${event.lineNumber}`));
  });
  await page.setViewportSize({ width, height });
  await page.emulateMedia({ colorScheme: theme });
  try {
    await page.goto(URL_ + path);
    await settled(page);
    await body(page);
  } finally {
    await page.close();
  }
  assert.deepEqual(said.filter((line) => !allow?.test(line)), [], `the browser's console at ${path}`);
}

/** The page is drawn and has what it asked for. @param {import('playwright-core').Page} page */
export async function settled(page) {
  await page.locator('h1').first().waitFor();
  await page.waitForFunction(() => !document.querySelector('.bars'));
}

/** Nothing scrolls sideways, nothing sticks out of its card. @param {import('playwright-core').Page} page */
export async function fits(page) {
  const out = await page.evaluate(() => {
    const wide = document.documentElement.scrollWidth - document.documentElement.clientWidth;
    const found = wide > 0 ? [`the page is ${wide} px too wide`] : [];
    for (const card of document.querySelectorAll('.card, dialog[open], .rail, .bar')) {
      const box = card.getBoundingClientRect();
      for (const inner of card.querySelectorAll('*')) {
        const at = inner.getBoundingClientRect();
        let scrolls = !!inner.closest('.sr');
        for (let up = inner.parentElement; up && up !== card && !scrolls; up = up.parentElement) scrolls = getComputedStyle(up).overflowX !== 'visible';
        if (!scrolls && at.width && (at.right > box.right + 1 || at.left < box.left - 1)) { found.push(`${inner.tagName}.${inner.className} sticks out: ${inner.textContent?.slice(0, 40)}`); break; }
      }
    }
    return found;
  });
  assert.deepEqual(out, [], `at ${page.viewportSize()?.width} px`);
}

/** A request of the page itself, with its session. @param {import('playwright-core').Page} page @param {string} method @param {string} path @param {unknown} [body] */
export function api(page, method, path, body) {
  return page.evaluate(async ([verb, address, sent]) => {
    const answer = await fetch(`/api/v1${address}`, { method: verb, headers: { 'X-Toolroom-Proof': localStorage.getItem('toolroom.proof') ?? '', 'Content-Type': 'application/json' }, body: sent === undefined ? undefined : JSON.stringify(sent) });
    const text = await answer.text();
    return text ? JSON.parse(text) : null;
  }, /** @type {const} */ ([method, path, body]));
}

/** Text that wants to be more than text. */
export const HOSTILE = '<img src=x onerror="alert(1)"><script>alert(2)</script>\u202egnp.exe\u200b';

/** Characters that hide or turn text, left as they are in what a page shows or says. @param {import('playwright-core').Page} page @returns {Promise<string[]>} */
export const hidden = (page) => page.evaluate(() => {
  const raw = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\u{e0000}-\u{e007f}]/u;
  const found = [document.title];
  const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (texts.nextNode()) found.push(texts.currentNode.nodeValue ?? '');
  for (const one of document.querySelectorAll('[title], [aria-label], [placeholder], [alt], input[readonly]')) {
    for (const name of ['title', 'aria-label', 'placeholder', 'alt']) found.push(one.getAttribute(name) ?? '');
    if (one instanceof HTMLInputElement && one.readOnly) found.push(one.value);
  }
  return found.filter((text) => raw.test(text)).map((text) => JSON.stringify(text.slice(0, 120)));
});

/** A tool whose parameters have every shape, and that gives them back. */
export const SHAPES = {
  name: 'console-shapes', description: 'Takes every shape of a schema and gives it back. Use it to test forms. Returns what was sent.', category: 'query', config: { script_path: 'console_shapes.py' },
  script: 'def run(params, context):\n    print("<img src=x onerror=alert(3)> \\u202eenil\\u200b \\x1b[31mred")\n    return params\n',
  input_schema: {
    type: 'object', additionalProperties: false, required: ['text', 'level'],
    properties: {
      text: { type: 'string', minLength: 1 }, level: { enum: ['low', 'high'] }, note: { type: 'string', maxLength: 4000 }, day: { type: 'string', format: 'date' }, mail: { type: 'string', format: 'email' },
      count: { type: 'integer', minimum: 0 }, ratio: { type: 'number', maximum: 1 }, active: { type: 'boolean' }, due: { type: ['string', 'null'] },
      address: { type: 'object', properties: { street: { type: 'string' }, city: { type: 'string' } }, required: ['city'] }, labels: { type: 'object', additionalProperties: { type: 'string' } },
      tags: { type: 'array', items: { type: 'string' } }, items: { type: 'array', items: { type: 'object', properties: { name: { type: 'string' }, amount: { type: 'integer' } }, required: ['name'] } },
      target: { oneOf: [{ title: 'By id', type: 'object', properties: { kind: { const: 'id' }, id: { type: 'integer' } }, required: ['kind', 'id'] }, { type: 'object', properties: { kind: { const: 'name' }, name: { type: 'string' } }, required: ['kind', 'name'] }] },
      size: { anyOf: [{ type: 'integer' }, { type: 'string', enum: ['small', 'large'] }] }, merged: { allOf: [{ type: 'object', properties: { a: { type: 'string' } } }, { type: 'object', properties: { b: { type: 'integer' } }, required: ['b'] }] },
      tree: { $ref: '#/$defs/node' }, token: { type: 'string' }, free: { type: 'object', patternProperties: { '^x-': { type: 'string' } } },
    },
    $defs: { node: { type: 'object', properties: { label: { type: 'string' }, children: { type: 'array', items: { $ref: '#/$defs/node' } } }, required: ['label'] } },
  },
};

// A server of the Model Context Protocol with one tool, whose description is in a file.
const SHOP = `
import { readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
for await (const line of createInterface({ input: process.stdin })) {
  const { id, method, params } = JSON.parse(line);
  if (id === undefined) continue;
  const about = readFileSync(process.argv[2], 'utf8');
  const tool = () => ({ name: 'price', description: about, inputSchema: { type: 'object', properties: { item: { type: 'string' } } } });
  const result = { initialize: () => ({ protocolVersion: params.protocolVersion, capabilities: { tools: {} }, serverInfo: { name: process.argv[3] ?? 'shop', version: '1.0.0' }, instructions: process.argv[3] }), ping: () => ({}), 'tools/list': () => ({ tools: [tool()] }), 'tools/call': () => ({ content: [{ type: 'text', text: '42 crowns' }] }) }[method]?.();
  console.log(JSON.stringify({ jsonrpc: '2.0', id, ...(result ? { result } : { error: { code: -32601, message: 'no such method' } }) }));
}
`;

/** Its entry, and a way to change what it says of its tool. @param {string} folder @param {string} [name] @param {string[]} [says] what it says of itself */
export function shop(folder, name = 'shop', says = []) {
  const [program, about] = [join(folder, 'shop.mjs'), join(folder, 'about.txt')];
  const describe = (/** @type {string} */ text) => writeFileSync(about, text);
  writeFileSync(program, SHOP);
  describe('Tells the price of an item.');
  return { entry: { name, command: process.execPath, args: [program, about, ...says] }, describe };
}
