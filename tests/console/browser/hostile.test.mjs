// Text of strangers is text on every page: no dialog, no request, no element of theirs; a decision is about what was shown.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { api, close, HOSTILE, settled, SHAPES, visit } from './harness.mjs';

let call = '';
before(() => visit('/console/settings', async (page) => {
  await api(page, 'PUT', '/tools/console-shapes', SHAPES);
  const made = await api(page, 'POST', '/tools/console-shapes/call', { params: { text: HOSTILE, level: 'low', labels: { [HOSTILE]: HOSTILE } } });
  call = made.metadata.executionId;
  await api(page, 'POST', '/tools/create-task/call', { params: { title: 'A <b>bold</b> <img src=x onerror=alert(4)> task' } });
  await api(page, 'POST', '/tools/request-human-input/call', { params: { question: HOSTILE, choices: [HOSTILE, 'b'] } });
  await api(page, 'POST', '/chat', { message: `add ${HOSTILE}` });
  const described = { ...SHAPES, name: 'strange-words', config: { script_path: 'strange_words.py' }, description: `Says ${HOSTILE}. Use it to test pages. Returns what was sent.` };
  await api(page, 'PUT', '/tools/strange-words', described);
  await api(page, 'POST', '/keys', { user: 'strange', note: 'a <b>note</b> <img src=x onerror=alert(6)>' });
}));
after(close);

/** @param {import('playwright-core').Page} page */
const strangers = (page) => page.evaluate(() => [...document.querySelectorAll('#app script, #app iframe, #app object, #app embed, #app img:not(.picture), #app b, #app style, #app [onerror], #app [onclick], #app a[href^="javascript:"]')].map((one) => one.outerHTML.slice(0, 100)));

for (const path of ['/console/', '/console/chat', '/console/approvals', '/console/approvals?show=decided', '/console/executions', '/console/tools', '/console/tools/console-shapes', '/console/servers', '/console/tasks', '/console/keys', '/console/profiles', '/console/scripts', '/console/tools/strange-words', '/console/profiles/default', '/console/settings', '/console/approvals?show=standing', '/docs']) {
  test(`hostile names, descriptions and texts are text on ${path}`, () => visit(path, async (page) => assert.deepEqual(await strangers(page), [])));
}

test('hostile parameters, results and log lines are text in the detail of a call, with hidden characters in a box', () => visit('/console/approvals', async (page) => {
  await page.goto(page.url().replace('/approvals', `/executions/${call}`));
  await settled(page);
  await page.locator('.detail .json').first().waitFor();
  assert.deepEqual(await strangers(page), []);
  const text = await page.locator('.detail').innerText();
  assert.ok(text.includes('<img src=x onerror="alert(1)">'), 'the text is there, whole');
  assert.ok(text.includes('<img src=x onerror=alert(3)>'), 'and the line that the script wrote');
  assert.ok(await page.locator('.detail .hidden-char', { hasText: 'U+202E' }).count() > 0);
  assert.ok(!/[\u202e\u200b]/.test(text), 'no hidden character is left in the page');
}));

test('a hostile conversation is text', () => visit('/console/chat', async (page) => {
  await page.locator('.talks .item').first().click();
  await page.locator('.messages').waitFor();
  assert.deepEqual(await strangers(page), []);
}));

/** A server with one changed definition, as the API shows it. */
const held = (hash) => ({ name: 'held', permission: 'held:call', state: 'ready', connections: 1, open: 0, pendingReview: 1, pendingHash: 'all', tools: [{ tool: HOSTILE, standing: 'changed', pendingHash: hash, approved: { description: 'Reads a file.' }, pending: { description: `Reads a file. ${HOSTILE}` }, changes: [{ impact: 'breaking', pointer: '/parameters', message: HOSTILE }] }] });

test('a definition is approved by the hash that was shown, and a changed one is refused with a next step', () => visit('/console/servers', async (page) => {
  await page.route('**/api/v1/servers/held', (route) => route.fulfill({ json: held('shown-hash') }));
  let body;
  await page.route('**/api/v1/servers/held/approve', (route) => { body = route.request().postDataJSON(); return route.fulfill({ status: 409, contentType: 'application/json', body: JSON.stringify({ code: 'version_conflict', detail: 'The definition is another by now.' }) }); });
  await page.goto(`${page.url()}/held`);
  await page.getByRole('button', { name: 'Approve this definition' }).click();
  await page.getByText('The definition is another by now.').waitFor();
  assert.deepEqual(body, { tool: HOSTILE, hash: 'shown-hash' });
  assert.ok(await page.locator('.diff .hidden-char').count() >= 2);
  assert.deepEqual(await strangers(page), []);
}, { allow: /status of 409/ }));

test('a login address that is not http or https is not opened', () => visit('/console/servers', async (page) => {
  await page.route('**/api/v1/servers/held', (route) => route.fulfill({ json: { ...held('x'), state: 'down', reason: 'wants a login' } }));
  await page.route('**/api/v1/servers/held/login*', (route) => route.fulfill({ json: { state: 'waiting', url: 'javascript:alert(5)' } }));
  await page.goto(`${page.url()}/held`);
  await page.getByRole('button', { name: 'Log in' }).click();
  await page.getByText('neither http nor https').waitFor();
  assert.equal(await page.locator('dialog a').count(), 0);
}));

test('the buttons of a card that has just come do not work yet', () => visit('/console/approvals', async (page) => {
  const made = await api(page, 'POST', '/tools/create-task/call', { params: { title: 'x' } });
  await page.evaluate(() => {
    /** @type {any} */ (globalThis).atFirst = {};
    new MutationObserver((changes) => {
      for (const added of changes.flatMap((change) => [...change.addedNodes])) if (added instanceof Element && added.matches('.ask')) /** @type {any} */ (globalThis).atFirst[added.id] = added.querySelector('[data-does=approve]')?.matches(':disabled');
    }).observe(document.body, { childList: true, subtree: true });
  });
  const asked = await api(page, 'POST', '/tools/delete-task/call', { params: { taskId: made.data.task.taskId } });
  await page.locator(`#ask-${asked.pending.id} [data-does=approve]:enabled`).waitFor();
  assert.equal(await page.evaluate((id) => /** @type {any} */ (globalThis).atFirst[id], `ask-${asked.pending.id}`), true);
}));

test('the proof is kept by the page and sent with every request; the link is not', () => visit('/console/', async (page) => {
  assert.match(await page.evaluate(() => localStorage.getItem('toolroom.proof') ?? ''), /^\S{16,}$/);
  assert.equal(await page.evaluate(() => document.cookie), '', 'no script can read the cookie');
  const sent = page.waitForRequest((request) => request.url().includes('/api/v1/'));
  await page.reload();
  assert.ok((await sent).headers()['x-toolroom-proof']);
}));

test('without the proof nobody is logged in', () => visit('/console/', async (page) => {
  const proof = await page.evaluate(() => localStorage.getItem('toolroom.proof'));
  await page.evaluate(() => localStorage.removeItem('toolroom.proof'));
  await page.reload();
  await page.getByRole('heading', { name: 'Log in' }).waitFor();
  await page.evaluate((kept) => localStorage.setItem('toolroom.proof', kept ?? ''), proof);
}));
