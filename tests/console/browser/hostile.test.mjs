// Text of strangers is text on every page: no dialog, no request, no element of theirs; a decision is about what was shown.
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { api, close, hidden, HOSTILE, settled, SHAPES, shop, visit } from './harness.mjs';

const folder = mkdtempSync(join(tmpdir(), 'hostile-'));
/** Where there is less room for it, or less is allowed. */
const SHORT = '<b>b</b><img src=x onerror=alert(4)>\u202egnp\u200b';
/** @type {Record<string, string>} */
const PAGES = {
  overview: '/console/', chat: '/console/chat', approvals: '/console/approvals', decided: '/console/approvals?show=decided', standing: '/console/approvals?show=standing', executions: '/console/executions', catalogue: '/console/tools', form: '/console/tools/console-shapes', 'a tool': '/console/tools/strange-words',
  servers: '/console/servers', 'a server': `/console/servers/${encodeURIComponent(SHORT)}`, tasks: '/console/tasks', 'the list of tasks': '/console/tasks?view=list', keys: '/console/keys', 'a new key': '/console/keys?new=1', profiles: '/console/profiles', 'a profile': '/console/profiles/strange', 'a profile to change': '/console/profiles/strange?edit=1', scripts: '/console/scripts', 'a script': '/console/scripts/strange-words',
  cards: '/console/cards', settings: '/console/settings', 'a name that is not there': `/console/tools/${encodeURIComponent(SHORT)}`, docs: '/docs',
  'a deck': '/console/cards/', 'a call': '/console/executions/', 'a conversation': '/console/chat/', 'a call by its tool': '/console/executions?q=',
};

let call = '';
before(() => visit('/console/settings', async (page) => {
  const does = async (/** @type {string} */ tool, /** @type {unknown} */ params) => {
    const answer = await api(page, 'POST', `/tools/${encodeURIComponent(tool)}/call`, { params });
    return answer.data ?? answer;
  };
  await api(page, 'PUT', '/tools/console-shapes', SHAPES);
  const made = await api(page, 'POST', '/tools/console-shapes/call', { params: { text: HOSTILE, level: 'low', labels: { [HOSTILE]: HOSTILE } } });
  call = made.metadata.executionId;
  PAGES['a call'] += call;
  const task = (await does('create-task', { title: SHORT, due: 'tomorrow' })).task;
  assert.ok(task, 'a task with such a title is made');
  await does('request-human-input', { question: HOSTILE, choices: [HOSTILE, 'b'] });
  const asked = await does('delete-task', { taskId: task.taskId });
  await api(page, 'POST', `/approvals/${asked.pending.id}`, { decision: 'deny', reason: SHORT });
  await does('delete-task', { taskId: (await does('create-task', { title: `${SHORT} again` })).task.taskId });
  // A name that nothing has stands in the log too.
  await does(SHORT, {});
  PAGES['a call by its tool'] += encodeURIComponent(`tool:${JSON.stringify(SHORT)}`);
  PAGES['a conversation'] += (await api(page, 'POST', '/chat', { message: `add ${HOSTILE}` })).conversation_id;
  await api(page, 'POST', '/chat', { message: `delete ${SHORT} again` });
  const described = { ...SHAPES, name: 'strange-words', config: { script_path: 'strange_words.py' }, description: `Says ${HOSTILE}. Use it to test pages. Returns what was sent.`, input_schema: { type: 'object', properties: { kind: { const: SHORT }, one: { enum: [SHORT, 'two'], default: SHORT }, words: { type: 'string', examples: [SHORT], description: SHORT } }, required: ['kind'] }, tags: [SHORT] };
  const stored = await api(page, 'PUT', '/tools/strange-words', described);
  assert.ok(stored.name, JSON.stringify(stored));
  const key = await api(page, 'POST', '/keys', { user: 'strange', note: SHORT, profiles: null });
  assert.ok(key.key, JSON.stringify(key));
  const profile = await api(page, 'PUT', '/profiles/strange', { description: HOSTILE, tools: ['strange-words', 'list-tasks'] });
  assert.ok(profile.tools?.length, JSON.stringify(profile));
  const deck = (await does('create-deck', { name: SHORT, description: SHORT })).deck;
  assert.ok(deck, 'a deck with such a name is made');
  const card = await does('create-card', { deckId: deck.deckId, front: SHORT, back: SHORT });
  assert.ok(card.card, JSON.stringify(card));
  PAGES['a deck'] += deck.deckId;
  const { entry, describe } = shop(folder, SHORT, [HOSTILE]);
  const server = await api(page, 'POST', '/servers?wait=20', entry);
  assert.equal(server.state, 'ready', JSON.stringify(server));
  describe(HOSTILE);
  await api(page, 'POST', `/servers/${encodeURIComponent(SHORT)}/reconnect`);
  let seen = server;
  for (let look = 0; look < 200 && !seen.pendingReview; look++) { await page.waitForTimeout(50); seen = await api(page, 'GET', `/servers/${encodeURIComponent(SHORT)}?wait=20`); }
  assert.equal(seen.pendingReview, 1, JSON.stringify(seen));
}, { allow: /status of 404/ }));
after(async () => {
  await close();
  rmSync(folder, { recursive: true, force: true });
});

/** @param {import('playwright-core').Page} page */
const strangers = (page) => page.evaluate(() => [...document.querySelectorAll('#app script, #app iframe, #app object, #app embed, #app img:not(.picture), #app b, #app style, #app [onerror], #app [onclick], #app a[href^="javascript:"]')].map((one) => one.outerHTML.slice(0, 100)));

for (const name of Object.keys(PAGES)) {
  test(`hostile names, descriptions and texts are text on ${name}, and hide nothing`, () => visit(PAGES[name], async (page) => {
    // Everything that can be opened is.
    await page.evaluate(() => { for (const one of document.querySelectorAll('details')) one.open = true; });
    if (name === 'a deck') await page.keyboard.press(' ');
    assert.deepEqual(await strangers(page), []);
    assert.deepEqual(await hidden(page), []);
    if (['tasks', 'servers', 'a server', 'a deck', 'cards', 'keys', 'a conversation', 'a profile to change', 'a call', 'a call by its tool', 'decided', 'approvals', 'profiles', 'form', 'a tool'].includes(name)) assert.ok(await page.locator('.hidden-char, [placeholder*="U+202E"]').count() > 0 || name === 'form', 'it was there to see');
  }, { allow: /status of 404/ }));
}

test('hostile parameters, results and log lines are text in the detail of a call, with hidden characters in a box', () => visit('/console/approvals', async (page) => {
  await page.goto(page.url().replace('/approvals', `/executions/${call}`));
  await settled(page);
  await page.locator('.detail .json').first().waitFor();
  assert.deepEqual(await strangers(page), []);
  const text = await page.locator('.detail').innerText();
  assert.ok(text.includes('<img src=x onerror="alert(1)">'), 'the text is there, whole');
  assert.ok(text.includes('<img src=x onerror=alert(3)>'), 'and the line that the script wrote');
  assert.ok(await page.locator('.lines .hidden-char', { hasText: 'U+001B' }).count() > 0, 'with its escape');
  assert.ok(await page.locator('.detail .hidden-char', { hasText: 'U+202E' }).count() > 0);
}));

test('a field that is filled in from an earlier call says what hides in it', () => visit('/console/approvals', async (page) => {
  await page.goto(page.url().replace('/approvals', `/tools/console-shapes?from=${call}`));
  await page.locator('.field', { has: page.locator('[id="f/text"]') }).locator('.hidden-char', { hasText: 'U+202E' }).waitFor();
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
