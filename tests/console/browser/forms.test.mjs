// Try it: every shape can be filled in and gives the JSON that is meant; a refusal stands at its field.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { api, close, SHAPES, visit } from './harness.mjs';

before(() => visit('/console/settings', (page) => api(page, 'PUT', '/tools/console-shapes', SHAPES)));
after(close);

/** @param {string} pointer */
const at = (pointer) => `[id="f${pointer}"]`;
/** What the form would send, as text. @param {import('playwright-core').Page} page */
async function sentBy(page) {
  const sent = page.waitForRequest((request) => request.url().endsWith('/validate'));
  await page.getByRole('button', { name: 'Dry run' }).last().click();
  return (await sent).postData() ?? '';
}

test('every shape of the table can be filled in and gives the JSON that is meant', () => visit('/console/tools/console-shapes', async (page) => {
  await page.fill(at('/text'), 'words');
  await page.selectOption(at('/level'), { label: 'high' });
  await page.fill(at('/note'), 'two\nlines');
  await page.fill(at('/day'), '2026-11-27');
  await page.fill(at('/mail'), 'ada@example.org');
  await page.fill(at('/count'), '9007199254740993');
  await page.fill(at('/ratio'), '0.50');
  await page.selectOption(at('/active'), 'false');
  await page.getByLabel('null for due').check();
  await page.getByRole('button', { name: 'Add address' }).click();
  await page.fill(at('/address/city'), 'Berlin');
  await page.getByRole('button', { name: 'Add labels' }).click();
  await page.getByRole('button', { name: 'Add a name' }).click();
  await page.getByLabel('Name', { exact: true }).fill('colour');
  await page.getByLabel('Name', { exact: true }).blur();
  await page.fill(at('/labels/colour'), 'red');
  await page.getByRole('button', { name: 'Add tags' }).click();
  for (const tag of ['one', 'two', 'three']) { await page.getByRole('button', { name: 'Add to tags' }).click(); await page.getByLabel(/^tags \d/).last().fill(tag); }
  await page.getByRole('button', { name: 'Move tags 3 up' }).click();
  await page.getByRole('button', { name: 'Remove tags 1' }).click();
  await page.getByRole('button', { name: 'Add items' }).click();
  await page.getByRole('button', { name: 'Add to items' }).click();
  await page.fill(at('/items/0/name'), 'nail');
  await page.fill(at('/items/0/amount'), '3');
  await page.getByRole('button', { name: 'Add target' }).click();
  await page.selectOption('[id="f/target-variant"]', { label: 'kind: name' });
  await page.fill(at('/target/name'), 'x');
  await page.getByRole('button', { name: 'Add size' }).click();
  await page.selectOption('[id="f/size-variant"]', { label: 'small | large' });
  await page.locator('fieldset', { hasText: 'size' }).locator('select').last().selectOption({ label: 'large' });
  await page.getByRole('button', { name: 'Add merged' }).click();
  await page.fill(at('/merged/b'), '7');
  await page.getByRole('button', { name: 'Add tree' }).click();
  await page.fill(at('/tree/label'), 'root');
  await page.getByRole('button', { name: 'Add children' }).click();
  await page.getByRole('button', { name: 'Add to children' }).click();
  await page.fill(at('/tree/children/0/label'), 'leaf');
  assert.equal(await page.locator(at('/token')).getAttribute('type'), 'password');
  await page.fill(at('/token'), 's3cret');
  await page.fill(at('/free'), '{"x-a": "1"}');
  const text = await sentBy(page);
  assert.match(text, /"count":\s*9007199254740993\b/, 'a large number stays exact');
  assert.match(text, /"ratio":\s*0\.50\b/, 'a number stays as it was typed');
  assert.deepEqual(JSON.parse(text).params, {
    text: 'words', level: 'high', note: 'two\nlines', day: '2026-11-27', mail: 'ada@example.org', count: 9007199254740992, ratio: 0.5, active: false, due: null, address: { city: 'Berlin' }, labels: { colour: 'red' },
    tags: ['three', 'two'], items: [{ name: 'nail', amount: 3 }], target: { kind: 'name', name: 'x' }, size: 'large', merged: { b: 7 }, tree: { label: 'root', children: [{ label: 'leaf' }] }, token: 's3cret', free: { 'x-a': '1' },
  });
  await page.getByText('would go through').waitFor();
}));

test('form and JSON are kept equal', () => visit('/console/tools/console-shapes', async (page) => {
  await page.fill(at('/text'), 'from the form');
  await page.getByRole('tab', { name: 'JSON' }).click();
  assert.deepEqual(JSON.parse(await page.inputValue('#raw-params')), { text: 'from the form' });
  await page.fill('#raw-params', '{"text": "from JSON", "level": "low", "tags": ["a"]}');
  await page.getByRole('tab', { name: 'Form' }).click();
  assert.equal(await page.inputValue(at('/text')), 'from JSON');
  assert.equal(await page.getByLabel('tags 1', { exact: true }).inputValue(), 'a');
}));

test('a call that the schema refuses shows its message at the field, tied to it', () => visit('/console/tools/create-task', async (page) => {
  await page.getByRole('button', { name: 'Dry run' }).last().click();
  const field = page.locator(at('/title'));
  await page.locator('.wrong').first().waitFor();
  assert.equal(await field.getAttribute('aria-invalid'), 'true');
  const described = await field.getAttribute('aria-describedby');
  const message = page.locator(`[id="${described?.split(' ')[0]}"]`);
  assert.match(await message.innerText(), /required|empty/);
  await page.fill(at('/title'), 'Buy milk');
  await field.blur();
  await page.locator('.wrong').first().waitFor({ state: 'detached' });
}));

test('what the form cannot show stands on top and takes the focus', () => visit('/console/tools/create-task', async (page) => {
  await page.getByRole('tab', { name: 'JSON' }).click();
  await page.fill('#raw-params', '{"title": "x", "colour": "red"}');
  await page.getByRole('button', { name: 'Dry run' }).last().click();
  await page.locator('.try .problem', { hasText: 'colour' }).waitFor();
  assert.ok(await page.evaluate(() => document.activeElement?.matches('.problem')));
}));

test('a destructive tool waits for a person, who may approve and run in one step', () => visit('/console/tools/delete-task', async (page) => {
  const made = await api(page, 'POST', '/tools/create-task/call', { params: { title: 'Short-lived' } });
  await page.fill(at('/taskId'), String(made.data.task.taskId));
  await page.getByRole('button', { name: 'Call it' }).click();
  const yes = page.getByRole('button', { name: 'Approve and run' });
  await yes.click();
  await page.locator('section[aria-label=Answer] .chip.ok').waitFor();
}));

test('an earlier call fills the form, and masked secrets stay empty', () => visit('/console/executions?q=tool%3Aconsole-shapes', async (page) => {
  await api(page, 'POST', '/tools/console-shapes/call', { params: { text: 'again', level: 'low', token: 's3cret' } });
  await page.reload();
  await page.locator('.exec-row:not(.head)').first().click();
  await page.getByRole('button', { name: 'Edit and call' }).click();
  await page.waitForURL(/from=/);
  await page.waitForFunction(() => /** @type {HTMLTextAreaElement | null} */ (document.getElementById('f/text'))?.value === 'again');
  assert.equal(await page.inputValue(at('/token')), '');
}));
