// The files as they are: what a first load weighs, what the sources must not say, what is carried along.
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { dirname, join, normalize, relative } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';

const ROOT = join(dirname(fileURLToPath(import.meta.url)), '../../../crates/server/console');
const read = (file) => readFileSync(join(ROOT, file), 'utf8');
const own = readdirSync(ROOT, { recursive: true }).map(String).filter((file) => file.endsWith('.js') && !file.startsWith('vendor'));

/** The modules that a file needs before it runs. */
function graph(file, seen = new Set()) {
  if (seen.has(file)) return seen;
  seen.add(file);
  for (const [, to] of read(file).matchAll(/^(?:import|export)\b[^;']*'(\.[^']+)'/gm)) graph(normalize(join(dirname(file), to)), seen);
  return seen;
}

for (const page of ['overview', 'approvals', 'executions', 'catalogue', 'servers', 'chat', 'tasks', 'keys', 'profiles', 'settings']) {
  test(`a first load of ${page} is at most 60 KB of gzip and 50 requests`, () => {
    const html = read('index.html');
    const named = [...html.matchAll(/\/console\/a\/dev\/([^"]+)/g)].map(([, file]) => file);
    const line = read('main.js').split('\n').find((one) => one.includes(`loads('${page}'`)) ?? '';
    const styles = [...line.matchAll(/'([^']+\.css)'/g)].map(([, file]) => file);
    const files = new Set([...named, ...graph('main.js'), ...graph(`pages/${page}.js`), ...styles]);
    if (page === 'overview') files.add('vendor/uplot.js');
    const bytes = [...files].reduce((sum, file) => sum + gzipSync(read(file), { level: 9 }).length, gzipSync(html).length);
    console.log(`${page}: ${bytes} bytes, ${files.size + 1} requests`);
    assert.ok(bytes <= 60 * 1024, `${bytes} bytes`);
    assert.ok(files.size < 50, `${files.size} requests`);
  });
}

test('no source makes HTML from a string, sets a style attribute, or opens a tab that can reach back', () => {
  for (const file of own) {
    const text = read(file);
    for (const word of [/innerHTML/, /outerHTML/, /insertAdjacentHTML/, /dangerouslySetInnerHTML/, /document\.write/, /\bstyle:/, /javascript:/, /\beval\(/, /new Function/, /createContextualFragment/]) assert.doesNotMatch(text, word, `${file}: ${word}`);
    for (const [link] of text.matchAll(/target: '_blank'[^}]*/g)) assert.match(link, /rel: 'noopener noreferrer'/, file);
  }
});

test('there is a picture of every page in both themes, of at most 150 KB', () => {
  const folder = join(ROOT, '../../../docs/pictures');
  const pages = readFileSync(join(ROOT, '../../../tests/console/browser/pages.test.mjs'), 'utf8');
  const names = [...(/const PAGES = \{(.*?)\n\};/s.exec(pages)?.[1] ?? '').matchAll(/'?([\w-]+)'?: '\//g)].map(([, name]) => name);
  assert.ok(names.length >= 24, names.join());
  for (const name of names) for (const theme of ['light', 'dark']) assert.ok(statSync(join(folder, `${name}-${theme}.png`)).size <= 150 * 1024, `${name}-${theme}`);
});

test('a file opens with one sentence and stays under 300 lines', () => {
  for (const file of own) {
    assert.match(read(file), /^\/\/ [A-Z].*/, file);
    assert.ok(read(file).split('\n').length <= 300, `${file} is too long`);
  }
});

test('parts know no route and make no request', () => {
  for (const file of own.filter((one) => one.startsWith('parts/') || one.startsWith('schema/'))) assert.doesNotMatch(read(file), /from '\.\.\/(router|live)\.js'|\b(get|send|exchange)\('?\//, file);
});

test('what is carried along is what versions.json says, with its licences', () => {
  const licences = read('vendor/LICENSES');
  for (const { file, packages, sha256 } of JSON.parse(read('vendor/versions.json'))) {
    assert.equal(createHash('sha256').update(readFileSync(join(ROOT, 'vendor', file))).digest('hex'), sha256, file);
    for (const [name, version] of Object.entries(packages)) assert.ok(licences.includes(`== ${name} ${version}\n`), name);
  }
});

test('every import leads to a file', () => {
  for (const file of own) for (const [, to] of read(file).matchAll(/(?:from|import\() ?'(\.[^']+)'/g)) assert.doesNotThrow(() => read(relative(ROOT, join(ROOT, dirname(file), to))), `${file}: ${to}`);
});

for (const [page, first] of [['index.html', 'main.js'], ['docs.html', 'docs.js']]) {
  test(`${page} names the modules that it needs first, so that they are asked for at once`, () => {
    const preloaded = [...read(page).matchAll(/modulepreload" href="\/console\/a\/dev\/([^"]+)/g)].map(([, file]) => file).sort();
    assert.deepEqual(preloaded, [...graph(first)].filter((file) => file !== first).sort());
  });
}

test('a first load of the API is at most 60 KB of gzip and 50 requests, without the document', () => {
  const html = read('docs.html');
  const files = new Set([...html.matchAll(/\/console\/a\/dev\/([^"]+)/g)].map(([, file]) => file));
  const bytes = [...files].reduce((sum, file) => sum + gzipSync(read(file), { level: 9 }).length, gzipSync(html).length);
  console.log(`docs: ${bytes} bytes, ${files.size + 1} requests`);
  assert.ok(bytes <= 60 * 1024 && files.size < 50, `${bytes} bytes, ${files.size} requests`);
});
