// The API to read and to try: every operation of the OpenAPI document, on a page that needs no session to be read.
import { render, signal, useEffect, useRef } from './vendor/preact.js';
import { a, button, div, h1, h2, header, input, li, main, nav, p, section, span, ul, use } from './dom.js';
import { exchange, hasProof } from './api.js';
import { icon } from './icons.js';
import { messages } from './later.js';
import { bars, loaded, useLoaded } from './parts/problem.js';
import { Operation } from './pages/operation.js';
import { some } from './text.js';
import './settings.js';

/** @typedef {import('./pages/operation.js').Op} Op */

const chosen = signal('');
const words = signal('');
const here = () => decodeURIComponent(location.hash.slice(1));
chosen.value = here();
addEventListener('hashchange', () => {
  chosen.value = here();
});

/** Every operation, in the order of the document. @param {any} document @returns {Op[]} */
const operations = (document) =>
  Object.entries(document.paths).flatMap(([path, methods]) => Object.entries(methods).map(([method, op]) => ({ ...op, path, method: method.toUpperCase(), tag: op.tags[0], id: op.operationId })));

/** @param {Op} op */
const fits = (op) => words.value.toLowerCase().split(/\s+/).every((word) => `${op.method} ${op.path} ${op.summary} ${op.id}`.toLowerCase().includes(word));

/** @param {{ all: Op[] }} props */
function List({ all }) {
  const found = all.filter(fits);
  const tags = [...new Set(found.map((op) => op.tag))];
  return section(
    { class: 'card ops', 'aria-label': 'Operations' },
    header(
      null,
      div({ class: 'search grow', role: 'search' }, icon('search'), input({ class: 'in', type: 'search', 'aria-label': 'Find an operation', placeholder: 'Find an operation', value: words.value, onInput: (event) => (words.value = event.currentTarget.value) })),
      span({ class: 'note', role: 'status' }, some(found.length, 'operation')),
    ),
    nav(
      { class: 'ops-list', 'aria-label': 'Operations', tabIndex: -1 },
      tags.map((tag) => [
        h2({ key: tag, id: `tag-${tag}` }, tag),
        ul(
          { 'aria-labelledby': `tag-${tag}` },
          found
            .filter((op) => op.tag === tag)
            .map((op) =>
              li(
                { key: op.id },
                a({ class: 'op', href: `#${op.id}`, 'aria-current': op.id === chosen.value ? 'true' : undefined }, span({ class: `verb ${op.method}` }, op.method), span({ class: 'mono grow' }, op.path), span({ class: 'note about' }, op.summary)),
              ),
            ),
        ),
      ]),
      found.length ? null : p({ class: 'note nothing' }, 'No operation has these words. Try a path, such as ', span({ class: 'mono' }, 'approvals'), '.'),
    ),
  );
}

/** @param {{ document: any }} props */
function Docs({ document }) {
  const all = operations(document);
  const op = all.find((one) => one.id === chosen.value);
  const title = useRef(/** @type {HTMLHeadingElement | null} */ (null));
  useEffect(() => {
    globalThis.document.title = op ? `${op.method} ${op.path} · Toolroom` : 'The API · Toolroom';
    if (op) title.current?.focus({ preventScroll: true });
  }, [op?.id]);
  return div(
    { class: `page docs ${op ? 'opened' : ''}` },
    div({ class: 'title' }, h1(null, 'The API'), span({ class: 'chip' }, document.info.version), div({ class: 'right' }, a({ href: '/docs/errors' }, 'Error codes'), a({ href: '/openapi.json' }, 'openapi.json'))),
    div(
      { class: 'docs-split' },
      use(List, { all }),
      op
        ? section(
            { class: 'card one', 'aria-label': 'One operation' },
            header(null, button({ class: 'b small quiet icon-only back', type: 'button', 'aria-label': 'Back to the list', onClick: () => (location.hash = '') }, icon('back')), h2({ ref: title, tabIndex: -1, class: 'mono' }, span({ class: `verb ${op.method}` }, op.method), ' ', op.path)),
            use(Operation, { key: op.id, op, document }),
          )
        : section({ class: 'card one', 'aria-label': 'One operation' }, div({ class: 'empty center' }, p(null, 'Choose an operation to see what it takes and gives, and to try it.'))),
    ),
  );
}

function App() {
  const one = useLoaded(async (signal) => {
    const answer = await exchange('GET', '/openapi.json', { base: '', signal });
    if (!answer.ok) throw new Error(`the document could not be read: status ${answer.status}`);
    return answer.value;
  }, []);
  return [
    a({ class: 'skip', href: '#main', onClick: (event) => (event.preventDefault(), document.getElementById('main')?.focus()) }, 'Skip to the content'),
    header({ class: 'bar' }, a({ class: 'brand', href: '/console/' }, span({ class: 'mark', 'aria-hidden': 'true' }), span(null, 'Toolroom')), div({ class: 'who' }, a({ href: '/console/' }, hasProof() ? 'To the console' : 'Log in to the console'))),
    main({ id: 'main', tabIndex: -1 }, one.value || one.error ? loaded(one, (document) => use(Docs, { document })) : bars()),
    messages(),
  ];
}

render(use(App, {}), /** @type {HTMLElement} */ (document.getElementById('app')));
