// The main act of each page that has dialogs, forms or an editor, by keyboard alone: the focus is seen at every stop and comes back.
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { api, close, shop, visit } from './harness.mjs';

const folder = mkdtempSync(join(tmpdir(), 'keyboard-'));
after(async () => {
  await close();
  rmSync(folder, { recursive: true, force: true });
});

/** What has the focus: its name, and whether the focus can be seen. @param {import('playwright-core').Page} page */
const focus = (page) => page.evaluate(() => {
  let at = document.activeElement;
  while (at?.shadowRoot?.activeElement) at = at.shadowRoot.activeElement;
  if (!at || at === document.body) return { name: '', seen: true };
  const labels = /** @type {HTMLInputElement} */ (at).labels;
  const around = at.closest('.cm-editor') ?? at;
  const name = (at.getAttribute('aria-label') ?? labels?.[0]?.textContent ?? at.textContent ?? '').trim();
  return { name, seen: [at, around].some((one) => getComputedStyle(one).outlineStyle !== 'none') || at.tagName === 'H1' };
});

/** Goes there by Tab. @param {import('playwright-core').Page} page @param {string | RegExp} name */
async function tabTo(page, name) {
  const passed = [];
  for (let stop = 0; stop < 150; stop++) {
    await page.keyboard.press('Tab');
    let at = await focus(page);
    // The editor marks itself a moment later.
    for (let look = 0; look < 40 && !at.seen; look++) { await page.waitForTimeout(25); at = await focus(page); }
    assert.ok(at.seen, `“${at.name}” shows no focus`);
    if (typeof name === 'string' ? at.name === name : name.test(at.name)) return;
    passed.push(at.name.slice(0, 30));
  }
  assert.fail(`Tab does not lead to ${name}, but to ${passed.join(' | ')}`);
}

/** Goes there and presses it. @param {import('playwright-core').Page} page @param {string | RegExp} name @param {string} [key] */
async function press(page, name, key = 'Enter') {
  await tabTo(page, name);
  await page.keyboard.press(key);
}

/** The focus is on what has this name, sooner or later. @param {import('playwright-core').Page} page @param {string} name */
async function focused(page, name) {
  let at = await focus(page);
  for (let look = 0; look < 200 && at.name !== name; look++) { await page.waitForTimeout(25); at = await focus(page); }
  assert.equal(at.name, name);
}

test('a person logs in by a key, chooses a theme, and logs out', async () => {
  let key = '';
  await visit('/console/keys', async (page) => { key = (await api(page, 'POST', '/keys', { user: 'ada', person: true })).key; });
  await visit('/console/', async (page) => {
    await tabTo(page, 'A person’s key');
    await page.keyboard.type('tr_wrong');
    await page.keyboard.press('Enter');
    await page.locator('.problem').waitFor();
    await focused(page, 'A person’s key');
    await page.keyboard.type(key);
    await page.keyboard.press('Enter');
    await page.locator('nav.rail').waitFor();
    await press(page, 'Settings');
    await focused(page, 'Settings');
    await press(page, 'Dark');
    assert.equal(await page.evaluate(() => document.documentElement.dataset.theme), 'dark');
    await page.keyboard.press('Shift+Tab');
    await page.keyboard.press('Shift+Tab');
    await page.keyboard.press('Enter');
    assert.equal(await page.evaluate(() => document.documentElement.dataset.theme), 'system');
    await page.reload();
    await press(page, 'Log out');
    await page.getByRole('heading', { name: 'Log in' }).waitFor();
  }, { stranger: true, allow: /status of 40[13]/ });
});

test('a key is made, shown once and revoked', () => visit('/console/keys', async (page) => {
  await press(page, 'New key');
  await focused(page, 'User');
  await page.keyboard.press('Escape');
  await page.getByRole('dialog').waitFor({ state: 'detached' });
  await focused(page, 'New key');
  await page.keyboard.press('Enter');
  await focused(page, 'User');
  await page.keyboard.type('keyboard');
  await press(page, /^web:search/, 'Space');
  await press(page, 'Make the key');
  await page.getByRole('dialog', { name: 'The new key' }).or(page.getByText('I have it')).first().waitFor();
  await press(page, 'I have it');
  await page.getByRole('dialog').waitFor({ state: 'detached' });
  await focused(page, 'New key');
  const { keys } = await api(page, 'GET', '/keys');
  const made = keys.find((one) => one.user === 'keyboard');
  assert.ok(made && !made.grants.includes('web:search'), JSON.stringify(made));
  const revoke = `Revoke the key ${made.prefix} of keyboard`;
  await press(page, revoke);
  await page.keyboard.press('Escape');
  await focused(page, revoke);
  await page.keyboard.press('Enter');
  await press(page, 'Revoke the key');
  await page.getByRole('button', { name: revoke }).waitFor({ state: 'detached' });
  // What had the focus is gone: the title of the page has it.
  await focused(page, 'Keys');
}));

test('a server is added, its changed definition approved, and it is removed', () => visit('/console/servers', async (page) => {
  const { entry, describe } = shop(folder, 'kiosk');
  await press(page, 'Add a server');
  await focused(page, 'Name');
  await page.keyboard.type('kiosk');
  await tabTo(page, 'Command');
  await page.keyboard.type([entry.command, ...entry.args].map((word) => `"${word}"`).join(' '));
  await page.keyboard.press('Enter');
  await page.waitForURL(/servers\/kiosk$/);
  await focused(page, 'kiosk');
  await page.getByText('1 can be called').waitFor();
  describe('Tells the price of an item, and buys it.');
  await press(page, 'Reconnect');
  await page.locator('button:enabled', { hasText: 'Approve this definition' }).waitFor();
  await press(page, 'Approve this definition');
  await page.getByText('has changed').waitFor({ state: 'detached' });
  await focused(page, 'kiosk');
  await press(page, 'Remove…');
  await page.keyboard.press('Escape');
  await focused(page, 'Remove…');
  await page.keyboard.press('Enter');
  await press(page, 'Remove the server');
  await page.waitForURL(/servers$/);
  await focused(page, 'Servers');
}));

test('a script is written, tried and registered; Tab leads out of the editor', () => visit('/console/scripts', async (page) => {
  await press(page, 'New tool');
  await focused(page, 'New tool');
  await page.locator('.cm-content').waitFor();
  await tabTo(page, 'Script');
  await page.keyboard.press('ControlOrMeta+a');
  // As Ctrl V does it.
  await page.locator('.cm-content').evaluate((at, script) => {
    const clipboardData = new DataTransfer();
    clipboardData.setData('text/plain', script);
    at.dispatchEvent(new ClipboardEvent('paste', { clipboardData, bubbles: true, cancelable: true }));
  }, '"""Says a word. Use it to test the keyboard. Returns the word.\n\nname: by-keyboard\ncategory: query\nparams:\n  word (string, required): the word\nreturns:\n  word (string): the same\nexample: {"word": "a"} -> {"word": "a"}\n"""\n\n\ndef run(params, context):\n    return {"word": params["word"]}\n');
  await page.locator('dd', { hasText: 'by-keyboard' }).first().waitFor();
  await tabTo(page, 'Parameters as JSON');
  await page.keyboard.press('ControlOrMeta+a');
  await page.keyboard.type('{"word": "tried"}');
  await page.locator('button:enabled', { hasText: 'Run the draft' }).waitFor();
  await press(page, 'Run the draft');
  await page.locator('section[aria-label=Answer]', { hasText: 'tried' }).waitFor();
  for (let stop = 0; stop < 60 && (await focus(page)).name !== 'Register the tool'; stop++) await page.keyboard.press('Shift+Tab');
  await page.keyboard.press('Enter');
  await page.waitForURL(/tools\/by-keyboard/);
  await focused(page, 'by-keyboard');
}));

test('a profile is made of two tools, and a client gets its key', () => visit('/console/profiles', async (page) => {
  await press(page, 'New profile');
  await focused(page, 'Name');
  await page.keyboard.press('Escape');
  await focused(page, 'New profile');
  await page.keyboard.press('Enter');
  await page.keyboard.type('default');
  await page.getByText('There is a profile of that name').waitFor();
  await page.keyboard.press('ControlOrMeta+a');
  await page.keyboard.type('typed');
  await page.keyboard.press('Enter');
  await page.waitForURL(/profiles\/typed\?edit=new/);
  for (const tool of ['create-task', 'list-tasks']) await press(page, tool, 'Space');
  await page.getByText(/^2 tools, about/).first().waitFor();
  await press(page, 'Save the profile');
  await page.waitForURL(/profiles\/typed$/);
  await press(page, 'Codex');
  await press(page, 'Make a key for this profile');
  await page.getByText('The key stands in the snippet').waitFor();
  const { keys } = await api(page, 'GET', '/keys');
  assert.ok(keys.some((one) => one.profiles?.includes('typed')), JSON.stringify(keys));
}));

test('a deck is reviewed', () => visit('/console/', async (page) => {
  const { data } = await api(page, 'POST', '/tools/create-deck/call', { params: { name: 'Spanish' } });
  await api(page, 'POST', '/tools/create-card/call', { params: { deckId: data.deck.deckId, front: 'la ventana', back: 'the window' } });
  await press(page, 'Cards');
  await focused(page, 'Cards');
  await press(page, /^Spanish/);
  await page.getByRole('heading', { name: 'la ventana' }).waitFor();
  await page.keyboard.press('Space');
  await page.getByText('the window').waitFor();
  await page.keyboard.press('3');
  await page.getByText('Done: 1 card reviewed').waitFor();
  await press(page, 'Other decks');
  await focused(page, 'Cards');
}));

test('a conversation is begun, renamed and found again', () => visit('/console/chat', async (page) => {
  await tabTo(page, 'Your message');
  await page.keyboard.type('show my tasks');
  await page.keyboard.press('Enter');
  await page.waitForURL(/chat\/[0-9a-f-]+$/);
  await page.getByText('working…').waitFor({ state: 'detached' });
  await press(page, 'Rename or forget');
  await focused(page, 'Title');
  await page.keyboard.press('Escape');
  await focused(page, 'Rename or forget');
  await page.keyboard.press('Enter');
  await focused(page, 'Title');
  await page.keyboard.press('ControlOrMeta+a');
  await page.keyboard.type('What I have to do');
  await page.keyboard.press('Enter');
  await page.getByRole('dialog').waitFor({ state: 'detached' });
  await focused(page, 'Rename or forget');
  await page.getByRole('heading', { name: 'What I have to do' }).waitFor();
  await press(page, 'New conversation');
  await page.waitForURL(/chat$/);
  // A new page takes the focus to its heading, a moment later.
  await page.waitForFunction(() => document.activeElement?.tagName === 'H1');
  await press(page, /^What I have to do/);
  await page.locator('.messages').waitFor();
}));

test('a task is done, the palette and the table of keys give the focus back', () => visit('/console/tasks', async (page) => {
  const title = `Read a book ${Date.now()}`;
  await api(page, 'POST', '/tools/create-task/call', { params: { title } });
  await page.reload();
  await press(page, title, 'Space');
  await page.waitForFunction(async (of) => [...document.querySelectorAll('.task.done')].some((one) => one.textContent?.includes(of)), title);
  await tabTo(page, 'List');
  for (const [key, dialog] of [['Control+k', 'Search and commands'], ['?', 'Keys']]) {
    await page.keyboard.press(key);
    await page.getByRole('dialog', { name: dialog }).waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    await focused(page, 'List');
  }
}));
