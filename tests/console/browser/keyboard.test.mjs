// What each page is for, done by keyboard alone, with the focus visible at every stop.
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { api, close, settled, visit } from './harness.mjs';

after(close);

/** Where the focus is, and whether it can be seen. @param {import('playwright-core').Page} page */
const focus = (page) => page.evaluate(() => {
  let at = document.activeElement;
  while (at?.shadowRoot?.activeElement) at = at.shadowRoot.activeElement;
  if (!at || at === document.body) return null;
  const style = getComputedStyle(at);
  const around = at.closest('.cm-editor') ? getComputedStyle(/** @type {Element} */ (at.closest('.cm-editor'))) : style;
  return { tag: at.tagName, text: (at.getAttribute('aria-label') ?? at.textContent ?? '').trim().slice(0, 40), seen: style.outlineStyle !== 'none' || around.outlineStyle !== 'none' || at.matches('.palette input') };
});

/** A call that waits for a person. @param {import('playwright-core').Page} page */
async function waitingCall(page) {
  const made = await api(page, 'POST', '/tools/create-task/call', { params: { title: 'To be deleted' } });
  const asked = await api(page, 'POST', '/tools/delete-task/call', { params: { taskId: made.data.task.taskId } });
  return { id: asked.pending.id, task: made.data.task.taskId };
}

for (const path of ['/console/', '/console/approvals', '/console/executions', '/console/tools', '/console/tools/create-task', '/console/servers', '/console/chat', '/console/scripts/new', '/console/profiles/default', '/console/tasks', '/console/keys', '/console/settings']) {
  test(`the focus is visible at every stop of ${path}`, () => visit(path, async (page) => {
    const seen = [];
    for (let stop = 0; stop < 40; stop++) {
      await page.keyboard.press('Tab');
      let at = await focus(page);
      if (!at) break;
      // The editor marks itself a moment later.
      for (let look = 0; look < 40 && at && !at.seen; look++) { await page.waitForTimeout(25); at = await focus(page); }
      if (!at) break;
      assert.ok(at.seen, `stop ${stop}: ${at.tag} "${at.text}" shows no focus`);
      seen.push(at.tag);
    }
    assert.ok(seen.length > 5, 'there are stops');
  }));
}

test('the first stop skips the rail', () => visit('/console/tools', async (page) => {
  await page.keyboard.press('Tab');
  assert.equal((await focus(page))?.text, 'Skip to the content');
  await page.keyboard.press('Enter');
  assert.equal(await page.evaluate(() => document.activeElement?.id), 'main');
}));

test('a call is approved by keyboard', () => visit('/console/approvals', async (page) => {
  const { id } = await waitingCall(page);
  await page.locator(`#ask-${id}`).waitFor();
  for (let moves = 0; moves < 60 && !(await page.evaluate((one) => document.activeElement?.id === `ask-${one}`, id)); moves++) await page.keyboard.press('j');
  // The buttons of a card that has just come do not work yet.
  await page.locator(`#ask-${id} [data-does=approve]:enabled`).waitFor();
  await page.keyboard.press('a');
  await page.locator(`#ask-${id} [data-does=approve]:focus`).waitFor();
  assert.equal((await focus(page))?.text, 'Approve this call');
  await page.keyboard.press('Enter');
  await page.locator(`#ask-${id}`).waitFor({ state: 'detached' });
  const all = await api(page, 'GET', '/approvals?all=true');
  assert.equal(all.approvals.find((one) => one.id === id).state, 'approved');
}));

test('a call is denied by keyboard, with a reason', () => visit('/console/approvals', async (page) => {
  const { id } = await waitingCall(page);
  await page.locator(`#ask-${id}`).waitFor();
  for (let moves = 0; moves < 60 && !(await page.evaluate((one) => document.activeElement?.id === `ask-${one}`, id)); moves++) await page.keyboard.press('j');
  await page.keyboard.press('d');
  await page.locator(`#ask-${id} [data-does=deny]:focus`).waitFor();
  await page.keyboard.press('Enter');
  const sent = page.waitForRequest((request) => request.method() === 'POST' && request.url().endsWith(id));
  await page.keyboard.type('Not this one');
  await page.keyboard.press('Enter');
  assert.deepEqual((await sent).postDataJSON(), { decision: 'deny', reason: 'Not this one' });
  await page.locator(`#ask-${id}`).waitFor({ state: 'detached' });
}));

test('the log is filtered, walked, opened and closed by keyboard, and the filter is in the address', () => visit('/console/executions', async (page) => {
  await api(page, 'POST', '/tools/get-status/call', { params: {} });
  await page.keyboard.press('/');
  await page.keyboard.type('tool:get-st* status:ok');
  await page.keyboard.press('Enter');
  await page.waitForURL(/q=tool%3Aget-st\*\+status%3Aok|q=tool%3Aget-st%2A/);
  await page.keyboard.press('Escape');
  await page.waitForFunction(() => [...document.querySelectorAll('.rows .tool')].every((one) => one.textContent === 'get-status') && document.querySelector('.rows .tool'));
  await page.keyboard.press('j');
  await page.keyboard.press('Enter');
  await page.locator('.detail h2').waitFor();
  assert.match(page.url(), /executions\/[0-9a-f-]+\?q=/);
  const id = page.url().split('/').pop()?.split('?')[0];
  await page.keyboard.press('Escape');
  await page.locator('.detail').waitFor({ state: 'detached' });
  await page.waitForFunction((one) => document.activeElement?.id === `row-${one}`, id);
  await page.reload();
  await settled(page);
  assert.equal(await page.locator('[data-filter]').inputValue(), 'tool:get-st* status:ok');
}));

test('a tool is found by the palette, tried dry and called, by keyboard', () => visit('/console/', async (page) => {
  await page.keyboard.press('Control+k');
  await page.locator('.palette input').waitFor();
  await page.keyboard.type('create-task');
  await page.locator('.palette li .name', { hasText: 'create-task' }).first().waitFor();
  await page.keyboard.press('Enter');
  await page.waitForURL(/tools\/create-task$/);
  await page.locator('[id="f/title"]').waitFor();
  for (let stop = 0; stop < 60 && (await page.evaluate(() => document.activeElement?.id)) !== 'f/title'; stop++) await page.keyboard.press('Tab');
  await page.keyboard.type('Written by keyboard');
  await page.keyboard.press('Control+Enter');
  await page.getByText('would go through').waitFor();
  await page.keyboard.press('Control+Shift+Enter');
  await page.locator('section[aria-label=Answer] h2', { hasText: /^Answer$/ }).waitFor();
}));

test('letters lead to pages, the question mark to the table of keys', () => visit('/console/', async (page) => {
  for (const [key, path] of [['a', 'approvals'], ['e', 'executions'], ['t', 'tools'], ['s', 'servers'], ['p', 'profiles'], ['k', 'keys'], ['c', 'chat']]) {
    await page.keyboard.press('g');
    await page.keyboard.press(key);
    await page.waitForURL(new RegExp(`/console/${path}`));
    // The title of the new page takes the focus.
    await page.waitForFunction((title) => document.activeElement?.tagName === 'H1' && document.title.toLowerCase().includes(title), { tools: 'catalogue', chat: 'conversation' }[path] ?? path);
  }
  await page.keyboard.press('?');
  await page.getByRole('dialog', { name: 'Keys' }).waitFor();
  await page.keyboard.press('Escape');
  await page.getByRole('dialog').waitFor({ state: 'detached' });
}));

test('a message is sent and a question answered in the chat by keyboard; the yes carries the id of its question', () => visit('/console/chat', async (page) => {
  const title = `Chat task ${Date.now()}`;
  await api(page, 'POST', '/tools/create-task/call', { params: { title } });
  for (let stop = 0; stop < 80 && (await page.evaluate(() => document.activeElement?.tagName)) !== 'TEXTAREA'; stop++) await page.keyboard.press('Tab');
  await page.keyboard.type(`delete ${title}`);
  await page.keyboard.press('Enter');
  const yes = page.locator('.asks .b.hold:enabled');
  await yes.waitFor();
  assert.match(await yes.innerText(), /^Delete the task$/);
  const sent = page.waitForRequest((request) => request.method() === 'POST' && request.url().includes('/chat?'));
  await yes.focus();
  await page.keyboard.press('Enter');
  const body = (await sent).postDataJSON();
  assert.equal(body.message, 'yes');
  assert.match(body.confirmation_id, /^[0-9a-f-]{36}$/);
  await page.locator('.words', { hasText: /Deleted/ }).waitFor();
}));

test('a task is added in words, the date is said back, and a delete can be undone', () => visit('/console/tasks', async (page) => {
  const title = `Walk the dog ${Date.now()}`;
  await page.keyboard.press('/');
  await page.keyboard.type(`${title} tomorrow 5pm`);
  await page.keyboard.press('Enter');
  await page.getByText(/Added “Walk the dog \d+”, due .*17:00/).waitFor();
  const remove = page.getByRole('button', { name: `Delete ${title}` });
  await remove.focus();
  await page.keyboard.press('Enter');
  await remove.waitFor({ state: 'detached' });
  const restore = page.getByRole('button', { name: 'Restore' });
  await restore.focus();
  await page.keyboard.press('Enter');
  await remove.waitFor();
}));
