// Try it: a form from the schema, or the same as JSON; checked by the server; a dry run first.
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from '../vendor/preact.js';
import { a, button, div, footer, form, h2, header, kbd, label, option, p, section, select, span, strong, textarea, use } from '../dom.js';
import { exchange, get, Problem, send } from '../api.js';
import { asCommand, asCurl, callTool } from '../calls.js';
import { copy } from '../parts/copy.js';
import { inside, read, write } from '../parts/json.js';
import { shown } from '../parts/problem.js';
import { onKeys } from '../shortcuts.js';
import { Field, fieldId, group } from '../schema/form.js';
import { fromValue, kindOf, least, resolve, unmasked } from '../schema/values.js';
import { Variants } from '../schema/variants.js';
import { name, plain } from '../text.js';
import { Outcome } from './outcome.js';
import { to } from '../router.js';

/** @typedef {import('../schema/values.js').Node} Node */
/** @typedef {import('../types.js').FieldError} FieldError */

const NOTHING = /** @type {Node} */ ({ kind: 'object', entries: [] });

/** @param {{ sheet: import('../types.js').Sheet, from: string | null }} props */
export function TryIt({ sheet, from }) {
  const { definition, published } = sheet;
  const [profile, setProfile] = useState('default');
  const [parameters, setParameters] = useState(definition.parameters);
  const schema = useMemo(() => resolve(parameters, parameters), [parameters]);
  const [node, setNode] = useState(/** @type {Node} */ (least(schema, schema) ?? NOTHING));
  const [draft, setDraft] = useState(/** @type {string | null} */ (null));
  const [tab, setTab] = useState('form');
  const [errors, setErrors] = useState(/** @type {FieldError[]} */ ([]));
  const [resolved, setResolved] = useState(/** @type {Record<string, string>} */ ({}));
  const [stray, setStray] = useState(/** @type {FieldError[]} */ ([]));
  const [problem, setProblem] = useState(/** @type {any} */ (null));
  const [answer, setAnswer] = useState(/** @type {any} */ (null));
  const [busy, setBusy] = useState('');
  const touched = useRef(new Set());
  const turn = useRef(0);
  const topErrors = useRef(/** @type {HTMLDivElement | null} */ (null));
  const as = published.find((one) => one.profile === profile)?.as ?? definition.name;

  useEffect(() => {
    if (from)
      exchange('GET', `/executions/${encodeURIComponent(from)}`).then(
        (found) => {
          const input = found.ok ? inside(read(found.text), 'input') : null;
          if (input?.kind === 'object') {
            setNode(unmasked(input));
            setDraft(null);
          }
        },
        () => {},
      );
  }, [from]);
  useEffect(() => {
    if (profile === 'default') {
      setParameters(definition.parameters);
      return;
    }
    get(`/profiles/${encodeURIComponent(profile)}/functions`).then((list) => {
      const one = list.map((/** @type {any} */ each) => each.function ?? each).find((/** @type {any} */ each) => each.name === as);
      if (one) setParameters(one.parameters);
    }, setProblem);
  }, [profile]);

  const params = () => {
    if (draft === null) return write(node);
    JSON.parse(draft);
    return draft;
  };
  const check = async (/** @type {boolean} */ all) => {
    const mine = ++turn.current;
    try {
      const found = await send('POST', `/tools/${encodeURIComponent(definition.name)}/validate`, undefined, { text: `{"params":${params()}${profile === 'default' ? '' : `,"profile":${JSON.stringify(profile)}`}}` });
      if (mine !== turn.current) return true;
      const seen = all ? found.errors : found.errors.filter((/** @type {FieldError} */ one) => touched.current.has(one.pointer));
      setErrors(seen);
      setResolved(found.resolved ?? {});
      setProblem(null);
      return found.valid;
    } catch (error) {
      if (error instanceof SyntaxError) {
        setErrors([{ pointer: '', message: `This is not JSON: ${error.message}` }]);
        return false;
      }
      // Without a check the call itself says what is wrong.
      if (error instanceof Problem && error.status === 404) return true;
      setProblem(error);
      return false;
    }
  };
  const run = async (/** @type {boolean} */ dry, /** @type {Record<string, unknown>} */ context = {}) => {
    setBusy(dry ? 'dry' : 'call');
    if (await check(true)) {
      try {
        setAnswer({
          dry,
          ...(profile === 'default'
            ? await callTool(definition.name, params(), { ...context, ...(dry ? { dryRun: true } : {}) })
            : await exchange('POST', `/profiles/${encodeURIComponent(profile)}/functions/${encodeURIComponent(as)}`, { text: params(), headers: dry ? { 'X-Dry-Run': 'true' } : {} })),
        });
        setProblem(null);
      } catch (error) {
        setProblem(error);
      }
    }
    setBusy('');
  };
  useLayoutEffect(() => {
    const lost = errors.filter((one) => tab === 'json' || !document.getElementById(fieldId(one.pointer)) || one.pointer === '');
    setStray(lost);
  }, [errors, tab]);
  useEffect(() => {
    if (stray.length) topErrors.current?.focus();
    else document.querySelector('.try [aria-invalid="true"]')?.scrollIntoView({ block: 'nearest' });
  }, [stray.length]);
  useLayoutEffect(() =>
    onKeys({
      'ctrl+enter': () => {
        run(true);
      },
      'ctrl+shift+enter': () => {
        run(false);
      },
    }),
  );

  const kind = kindOf(schema, '', schema);
  const shape = {
    root: schema,
    errors,
    resolved,
    leave: () => {
      check(false);
    },
  };
  const props = {
    form: shape,
    schema,
    node,
    set: (/** @type {Node | undefined} */ next) => {
      setNode(next ?? NOTHING);
      setDraft(null);
    },
    pointer: '',
    label: 'parameters',
    needed: true,
  };
  const flat = () => {
    try {
      return JSON.stringify(JSON.parse(params()));
    } catch {
      return '{}';
    }
  };
  return div(
    { class: 'stack try' },
    section(
      { class: 'card', 'aria-label': 'Try it' },
      header(
        null,
        h2(null, 'Try it'),
        div(
          { class: 'segments', role: 'tablist', 'aria-label': 'How to fill in' },
          [
            ['form', 'Form'],
            ['json', 'JSON'],
          ].map(([key, text]) => button({ key, type: 'button', role: 'tab', 'aria-selected': tab === key, onClick: () => setTab(key) }, text)),
        ),
        div(
          { class: 'right' },
          published.length > 1
            ? [
                label({ class: 'note', for: 'as' }, 'as published by'),
                select(
                  { class: 'in short', id: 'as', value: profile, onChange: (event) => setProfile(event.currentTarget.value) },
                  [...new Set(['default', ...published.map((one) => one.profile)])].map((one) => option({ key: one, value: one }, one)),
                ),
              ]
            : null,
        ),
      ),
      form(
        {
          class: 'body',
          noValidate: true,
          onSubmit: (event) => {
            event.preventDefault();
            run(true);
          },
          onFocusOut: (event) => {
            if (event.target instanceof HTMLElement && event.target.id.startsWith('f/')) touched.current.add(event.target.id.slice(1));
          },
        },
        stray.length
          ? div(
              { class: 'problem', role: 'alert', tabIndex: -1, ref: topErrors },
              stray.map((one, index) => p({ key: index }, strong(null, plain(one.pointer || 'The parameters')), ' ', plain(one.message), one.expected ? span({ class: 'note' }, ' ', plain(one.expected)) : null)),
            )
          : null,
        problem
          ? shown(problem, [
              {
                label: 'Try again',
                act: () => {
                  run(true);
                },
              },
            ])
          : null,
        tab === 'json'
          ? div(
              { class: 'field' },
              label({ for: 'raw-params' }, 'Parameters as JSON'),
              textarea({
                class: 'in mono',
                id: 'raw-params',
                rows: 10,
                spellcheck: false,
                value: draft ?? write(node),
                onInput: (event) => {
                  const text = event.currentTarget.value;
                  try {
                    JSON.parse(text);
                    const next = read(text);
                    if (next.kind === 'object') {
                      setNode(next);
                      setDraft(text);
                    }
                  } catch {
                    setDraft(text);
                  }
                },
                onBlur: () => {
                  check(false);
                },
              }),
            )
          : draft !== null && !isJson(draft)
            ? div(
                { class: 'banner' },
                'The JSON is not complete. ',
                button({ class: 'b small', type: 'button', onClick: () => setTab('json') }, 'Go on with JSON'),
                button({ class: 'b small', type: 'button', onClick: () => setDraft(null) }, 'Drop the change'),
              )
            : kind === 'object'
              ? group(props)
              : kind === 'variants'
                ? use(Variants, { ...props, key: profile })
                : use(Field, props),
        definition.examples?.length
          ? div(
              { class: 'row examples' },
              span({ class: 'note' }, 'Fill in:'),
              definition.examples.slice(0, 4).map((one, index) =>
                button(
                  {
                    key: index,
                    class: 'b small quiet',
                    type: 'button',
                    onClick: () => {
                      setNode(fromValue(one.params));
                      setDraft(null);
                      setErrors([]);
                    },
                  },
                  plain(one.description ?? `Example ${index + 1}`),
                ),
              ),
            )
          : null,
        button({ class: 'sr', tabIndex: -1, 'aria-hidden': 'true' }, 'Dry run'),
      ),
      footer(
        null,
        button({ class: 'b primary', type: 'button', disabled: !!busy, title: 'Ctrl Enter', onClick: () => run(true) }, 'Dry run'),
        button({ class: 'b', type: 'button', disabled: !!busy, title: 'Ctrl Shift Enter', onClick: () => run(false) }, 'Call it'),
        button({ class: 'b quiet', type: 'button', onClick: () => copy(asCurl(definition.name, flat()), 'Copied as curl') }, 'Copy as curl'),
        button({ class: 'b quiet', type: 'button', onClick: () => copy(asCommand(definition.name, flat()), 'Copied as command') }, 'Copy as command'),
        span({ class: 'note' }, 'Nothing is changed by a dry run. ', kbd(null, 'Ctrl Enter')),
      ),
    ),
    answer ? use(Outcome, { key: answer.text, answer, approve: (id) => run(false, { approvalId: id }) }) : null,
    from ? p({ class: 'note' }, 'Filled in from ', a({ href: to(['executions', from]) }, 'an earlier call'), ' of ', name(definition.name), '; masked secrets are empty.') : null,
  );
}

/** @param {string} text */
function isJson(text) {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
