// What needs no browser: schemas, filters, JSON as it was written, hidden characters.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { codePoint, input, option, span } from '../../../crates/server/console/dom.js';
import { completions, fits, instant, readFilter, toQuery } from '../../../crates/server/console/filter.js';
import { inside, read, write } from '../../../crates/server/console/parts/json.js';
import { hiddenIn } from '../../../crates/server/console/parts/long.js';
import { only } from '../../../crates/server/console/text.js';
import { kindOf, least, numeric, resolve, unmasked, variantName, variantOf, variantsOf, withField } from '../../../crates/server/console/schema/values.js';

test('JSON keeps its numbers as they were written', () => {
  const text = '{"a":12345678901234567890,"b":[1.0,-0.5e+3],"c":"x\\"y","d":{},"e":null}';
  assert.equal(write(read(text)).replace(/\s/g, ''), text.replace(/\s/g, ''));
  assert.equal(inside(read(text), 'a').raw, '12345678901234567890');
  assert.equal(inside(read(text), 'b', 1).raw, '-0.5e+3');
});

test('a number is kept exact, and what is not one is sent as text', () => {
  assert.deepEqual(numeric('9007199254740993'), { kind: 'bare', raw: '9007199254740993' });
  assert.deepEqual(numeric('12x'), { kind: 'text', value: '12x' });
  assert.deepEqual(numeric('012'), { kind: 'text', value: '012' });
});

test('every shape has its control', () => {
  const root = { $defs: { node: { type: 'object', properties: { next: { $ref: '#/$defs/node' } } } } };
  const kind = (schema, name = 'x') => kindOf(resolve(schema, root), name, root);
  assert.equal(kind({ type: 'string' }), 'text');
  assert.equal(kind({ type: 'string', maxLength: 201 }), 'long');
  assert.equal(kind({ type: 'string' }, 'token'), 'secret');
  assert.equal(kind({ type: 'string', writeOnly: true }), 'secret');
  assert.equal(kind({ enum: [1, 'a'] }), 'choice');
  assert.equal(kind({ oneOf: [{ const: 'a' }, { const: 'b' }] }), 'choice');
  assert.equal(kind({ const: 1 }), 'fixed');
  assert.equal(kind({ type: 'integer' }), 'number');
  assert.equal(kind({ type: 'boolean' }), 'boolean');
  assert.equal(kind({ type: ['string', 'null'] }), 'nullable');
  assert.equal(kind({ anyOf: [{ $ref: '#/$defs/node' }, { type: 'null' }] }), 'nullable');
  assert.equal(kind({ anyOf: [{ type: 'integer' }, { type: 'string' }] }), 'variants');
  assert.equal(kind({ type: ['integer', 'string'] }), 'variants');
  assert.equal(kind({ $ref: '#/$defs/node' }), 'object');
  assert.equal(kind({ allOf: [{ properties: { a: {} } }, { properties: { b: {} } }] }), 'object');
  assert.equal(kind({ type: 'object', additionalProperties: { type: 'string' } }), 'map');
  assert.equal(kind({ type: 'array', items: { type: 'string' } }), 'array');
  assert.equal(kind({ type: 'object', properties: { a: {} }, anyOf: [{ required: ['a'] }, { required: ['b'] }] }), 'object');
  for (const odd of [{ type: 'object', patternProperties: {} }, { if: {} }, { not: {} }, { $ref: 'https://elsewhere.example/x' }, true, {}]) assert.equal(kind(odd), 'json', JSON.stringify(odd));
});

test('variants are told apart by title and constants, and found again from a value', () => {
  const root = { oneOf: [{ title: 'By id', properties: { kind: { const: 'id' }, id: { type: 'integer' } }, required: ['kind', 'id'] }, { properties: { kind: { const: 'name' }, name: { type: 'string' } }, required: ['kind', 'name'] }] };
  const variants = variantsOf(root, root);
  assert.deepEqual(variants.map(variantName), ['By id', 'kind: name']);
  assert.equal(variantOf(read('{"kind":"name","name":"x"}'), variants, root), 1);
  assert.equal(write(least(root, root)).replace(/\s/g, ''), '{"kind":"id"}');
});

test('a schema that refers to itself ends', () => {
  const loop = { $ref: '#' };
  assert.doesNotThrow(() => kindOf(resolve(loop, loop), 'x', loop));
  const tree = { type: 'object', properties: { child: { $ref: '#' } }, required: ['child'] };
  assert.ok(write(least(tree, tree)).length < 500);
});

test('masked secrets are not sent again', () => assert.equal(write(unmasked(read('{"token":"[masked]","a":[{"secret":"[masked]","b":1}]}'))).replace(/\s/g, ''), '{"a":[{"b":1}]}'));
test('fields stand in the order of the schema', () => assert.equal(write(withField(read('{"b":1}'), 'a', { kind: 'bare', raw: '2' }, ['a', 'b'])).replace(/\s/g, ''), '{"a":2,"b":1}'));

test('a filter line becomes a query and a test', () => {
  const filter = readFilter('tool:create-* status:error user:"ada l" since:1h colour:red milk');
  assert.deepEqual(filter.wrong, ['colour']);
  const query = toQuery(filter);
  assert.equal(query.tool, 'create-*');
  assert.equal(query.user, 'ada l');
  assert.equal(query.q, 'milk');
  assert.ok(Math.abs(Date.parse(query.since) - (Date.now() - 3_600_000)) < 2000);
  const row = { tool: 'create-task', status: 'error', user: 'ada l', agentId: 'x', edge: 'rest', profile: 'default', traceId: 't', startedAt: new Date().toISOString(), input: { title: 'Buy MILK' } };
  assert.ok(fits(filter, row));
  assert.ok(!fits(filter, { ...row, tool: 'delete-task' }));
  assert.equal(instant('nonsense'), null);
  assert.deepEqual(completions('status:e', {}).map((one) => one.text), ['status:error', 'status:pending', 'status:timeout', 'status:cancelled', 'status:interrupted'].filter((one) => one.slice(7).includes('e')).sort((x, y) => ['ok', 'error', 'timeout', 'cancelled', 'pending', 'running', 'interrupted'].indexOf(x.slice(7)) - ['ok', 'error', 'timeout', 'cancelled', 'pending', 'running', 'interrupted'].indexOf(y.slice(7))));
});

test('hidden characters are found: zero width, bidirectional, tags, controls', () => {
  const found = hiddenIn('a\u200bb\u202ec\u{e0041}d\u0007e\ufe0f');
  assert.deepEqual([...found.keys()], ['U+200B', 'U+202E', 'U+E0041', 'U+0007', 'U+FE0F']);
  assert.equal(hiddenIn('plain text\n\twith lines, ümlaut, 漢字').size, 0);
  assert.equal(codePoint('\u200b'), 'U+200B');
});

test('an element hides nothing: neither in its text nor in what is said of it', () => {
  const [[first, [box, rest]]] = [span(null, 'a\u202eb').props.children].map((one) => (Array.isArray(one) ? one : [one]));
  assert.deepEqual([first, box.props.children, rest], ['a', 'U+202E', 'b']);
  assert.equal(span({ title: 'x\u200by' }).props.title, 'x[U+200B]y');
  assert.equal(input({ placeholder: '\u001b[31m', 'aria-label': 'plain' }).props.placeholder, '[U+001B][31m');
  assert.equal(option(null, 'p\u2066q').props.children, 'p[U+2066]q');
  assert.equal(span(null, 'plain words').props.children, 'plain words');
});

test('a name of any characters is a word of the filter, and is read as it was', () => {
  for (const name of ['plain', 'two words', 'with "marks"', 'a\\b c', 'tab\there', '']) assert.deepEqual(readFilter(`${only('tool', name)} since:1h`).fields[0], ['tool', name], name);
  assert.deepEqual(toQuery(readFilter('cached:yes failed:no counted:yes')), { cached: 'true', failed: 'false', counted: 'true' });
});

test('what the figures count is told from what they do not', () => {
  const row = /** @type {any} */ ({ tool: 't', status: 'timeout', edge: 'mcp', startedAt: '2026-01-01T00:00:00Z', endedAt: '2026-01-01T00:00:01Z', cached: false });
  assert.ok(fits(readFilter('failed:yes counted:yes cached:no'), row));
  assert.ok(!fits(readFilter('counted:yes'), { ...row, edge: 'system' }) && !fits(readFilter('counted:yes'), { ...row, endedAt: undefined }) && !fits(readFilter('cached:yes'), row));
  assert.ok(fits(readFilter('until:2026-01-01T00:00:01Z since:2026-01-01T00:00:00Z'), row) && !fits(readFilter('until:2026-01-01T00:00:00Z'), row));
});
