// The controls of single values. Each gets its schema and its node, and hands back a new node, or none.
import { useState } from '../vendor/preact.js';
import { input, option, select, textarea, use, visible } from '../dom.js';
import { read, write } from '../parts/json.js';
import { bare, fromValue, numeric, same, text, variantName, variantsOf } from './values.js';

/** @typedef {import('./values.js').Node} Node */
/** @typedef {{ schema: Record<string, any>, root: Record<string, any>, node: Node | undefined, set: (node: Node | undefined) => void, leave: () => void, id: string, name: string, needed: boolean, attrs: Record<string, any> }} Control */

/** @param {Node | undefined} node */
const typed = (node) => (node?.kind === 'text' ? node.value : node?.kind === 'bare' && node.raw !== 'null' ? node.raw : '');

/** @param {Record<string, any>} schema */
const placeholder = (schema) =>
  schema.default !== undefined ? `${typeof schema.default === 'string' ? schema.default : JSON.stringify(schema.default)} (default)` : schema.examples?.length ? String(schema.examples[0]) : undefined;

/** A line of text; of the kind that the format says, with any text still allowed. @param {Control} control */
export function textControl({ schema, node, set, leave, id, attrs }) {
  /** @type {Record<string, string>} */
  const modes = { email: 'email', uri: 'url' };
  const hints = /** @type {Record<string, string>} */ ({ date: '2026-11-27, or words', 'date-time': '2026-11-27T15:00:00Z, or words', email: 'ada@example.org', uri: 'https://example.org/' });
  return input({
    class: 'in',
    id,
    type: 'text',
    inputMode: /** @type {any} */ (modes[schema.format]),
    autocomplete: 'off',
    placeholder: placeholder(schema) ?? hints[schema.format],
    value: typed(node),
    onInput: (event) => set(event.currentTarget.value === '' ? undefined : text(event.currentTarget.value)),
    onBlur: leave,
    ...attrs,
  });
}

/** @param {Control} control */
export const longControl = ({ schema, node, set, leave, id, attrs }) =>
  textarea({
    class: 'in grows',
    id,
    rows: 1,
    placeholder: placeholder(schema),
    value: typed(node),
    onInput: (event) => set(event.currentTarget.value === '' ? undefined : text(event.currentTarget.value)),
    onBlur: leave,
    ...attrs,
  });

/** Never kept by the browser. @param {Control} control */
export const secretControl = ({ node, set, leave, id, attrs }) =>
  input({
    class: 'in mono',
    id,
    type: 'password',
    autocomplete: 'new-password',
    placeholder: 'never kept',
    value: typed(node),
    onInput: (event) => set(event.currentTarget.value === '' ? undefined : text(event.currentTarget.value)),
    onBlur: leave,
    ...attrs,
  });

/** Kept as text until it is sent, so that large numbers stay exact. @param {Control} control */
export const numberControl = ({ schema, node, set, leave, id, attrs }) =>
  input({
    class: 'in',
    id,
    type: 'text',
    inputMode: schema.type === 'integer' ? 'numeric' : 'decimal',
    autocomplete: 'off',
    placeholder: placeholder(schema) ?? bounds(schema),
    value: typed(node),
    onInput: (event) => set(event.currentTarget.value === '' ? undefined : numeric(event.currentTarget.value)),
    onBlur: leave,
    ...attrs,
  });

/** @param {Record<string, any>} schema */
function bounds({ minimum, maximum, exclusiveMinimum, exclusiveMaximum }) {
  const [low, high] = [minimum ?? exclusiveMinimum, maximum ?? exclusiveMaximum];
  if (low !== undefined && high !== undefined && high <= 1e9) return `${low} to ${high}`;
  return low !== undefined ? `at least ${low}` : high !== undefined && high <= 1e9 ? `at most ${high}` : undefined;
}

/** Not set, yes, no: a check box could not be unset. @param {Control} control */
export const booleanControl = ({ node, set, leave, id, attrs }) =>
  select(
    {
      class: 'in',
      id,
      value: node?.kind === 'bare' ? node.raw : '',
      onChange: (event) => {
        set(event.currentTarget.value ? bare(event.currentTarget.value) : undefined);
        leave();
      },
      ...attrs,
    },
    option({ value: '' }, 'not set'),
    option({ value: 'true' }, 'yes'),
    option({ value: 'false' }, 'no'),
  );

/** @param {Control} control */
export function choiceControl({ schema, root, node, set, leave, id, needed, attrs }) {
  /** @type {{ value: unknown, label: string }[]} */
  const choices = schema.enum
    ? schema.enum.map((/** @type {unknown} */ value) => ({ value, label: typeof value === 'string' ? value : JSON.stringify(value) }))
    : (variantsOf(schema, root) ?? []).map((one, index) => ({ value: one.const, label: one.title ?? (typeof one.const === 'string' ? one.const : variantName(one, index)) }));
  const at = choices.findIndex((one) => same(node, one.value));
  return select(
    {
      class: 'in',
      id,
      value: at < 0 ? '' : String(at),
      onChange: (event) => {
        const picked = event.currentTarget.value;
        set(picked === '' ? undefined : fromValue(choices[Number(picked)].value));
        leave();
      },
      ...attrs,
    },
    option({ value: '' }, schema.default !== undefined ? `not set (${schema.default})` : needed ? 'choose' : 'not set'),
    choices.map((one, index) => option({ key: index, value: String(index) }, one.label)),
  );
}

/** @param {Control} control */
export const fixedControl = ({ schema, id, attrs }) => input({ class: 'in mono', id, value: visible(typeof schema.const === 'string' ? schema.const : JSON.stringify(schema.const)), readOnly: true, ...attrs });

/** JSON for this field alone. @param {Control & { bad?: (message: string | null) => void }} control */
function JsonControl({ node, set, leave, id, attrs }) {
  const [draft, setDraft] = useState(/** @type {string | null} */ (null));
  const shown = draft ?? (node ? write(node) : '');
  return textarea({
    class: 'in mono',
    id,
    rows: 2,
    spellcheck: false,
    placeholder: 'JSON',
    value: shown,
    ...attrs,
    'aria-invalid': draft !== null || attrs['aria-invalid'],
    onInput: (event) => {
      const line = event.currentTarget.value;
      try {
        JSON.parse(line);
        setDraft(null);
        set(read(line));
      } catch {
        setDraft(line || null);
        if (!line) set(undefined);
      }
    },
    onBlur: leave,
  });
}
/** @param {Control} control */
export const jsonControl = (control) => use(JsonControl, control);
