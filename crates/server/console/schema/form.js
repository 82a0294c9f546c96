// A form from a JSON Schema: fields, groups, lists, maps, and "or null". Required fields come first.
import { useState } from '../vendor/preact.js';
import { button, code, div, fieldset, HIDDEN, input, label, legend, p, span, use } from '../dom.js';
import { icon } from '../icons.js';
import { name as nameOf, plain } from '../text.js';
import { booleanControl, choiceControl, fixedControl, jsonControl, longControl, numberControl, secretControl, textControl } from './fields.js';
import { bare, below, field, kindOf, least, resolve, same, withField, withoutNull } from './values.js';
import { Variants } from './variants.js';

/** @typedef {import('./values.js').Node} Node */
/** @typedef {import('./values.js').Schema} Schema */
/** @typedef {{ root: Schema, errors: import('../types.js').FieldError[], resolved: Record<string, string>, leave: () => void }} Form */
/** @typedef {{ form: Form, schema: any, node: Node | undefined, set: (node: Node | undefined) => void, pointer: string, label: string, needed: boolean, bare?: boolean, after?: any }} FieldProps */

const SINGLE = { text: textControl, long: longControl, secret: secretControl, number: numberControl, boolean: booleanControl, choice: choiceControl, fixed: fixedControl, json: jsonControl };

/** The id of the control at a pointer, to which errors lead. @param {string} pointer */
export const fieldId = (pointer) => `f${pointer || '/'}`;

/** One field with its label, its description and its errors. @param {FieldProps} props */
export function Field(props) {
  const { form, node, set, pointer, label: title, needed } = props;
  const schema = resolve(props.schema, form.root);
  const kind = kindOf(schema, title, form.root);
  const wrong = form.errors.filter((one) => one.pointer === pointer);
  const [open, setOpen] = useState(needed);
  const control = SINGLE[/** @type {keyof typeof SINGLE} */ (kind)];
  const id = fieldId(pointer);
  const notes = [wrong.length ? `${id}-wrong` : '', schema.description ? `${id}-about` : '', form.resolved[pointer] ? `${id}-read` : ''].filter(Boolean).join(' ');
  const attrs = { 'aria-describedby': notes || undefined, 'aria-invalid': wrong.length > 0, 'aria-required': needed || undefined };
  const head = [span({ class: 'mono' }, nameOf(schema.title && !/^\w+$/.test(title) ? schema.title : title)), needed ? span({ class: 'must' }, 'required') : null];
  const foot = [
    wrong.map((one, index) =>
      p(
        { key: index, class: 'wrong', id: index ? undefined : `${id}-wrong` },
        plain(one.message),
        one.example !== undefined ? ['; for example: ', code(null, plain(typeof one.example === 'string' ? one.example : JSON.stringify(one.example)))] : null,
      ),
    ),
    node?.kind === 'text' && kind !== 'secret' && node.value.search(HIDDEN) >= 0 ? p({ class: 'about warn-ink' }, '▲ There are characters in it that cannot be seen: ', span({ class: 'mono' }, node.value)) : null,
    form.resolved[pointer] ? p({ class: 'about ok-ink', id: `${id}-read` }, 'Read as ', plain(form.resolved[pointer]), '.') : null,
    schema.description ? p({ class: 'about', id: `${id}-about` }, plain(schema.description)) : null,
  ];
  if (kind === 'nullable') {
    const isNull = same(node, null);
    const inner = withoutNull(schema, form.root);
    const innerKind = kindOf(inner, title, form.root);
    const innerControl = SINGLE[/** @type {keyof typeof SINGLE} */ (innerKind)];
    const box = label(
      { class: 'check null' },
      input({ type: 'checkbox', checked: isNull, onChange: (event) => set(event.currentTarget.checked ? bare('null') : undefined) }),
      span(null, code(null, 'null'), span({ class: 'sr' }, ` for ${title}`)),
    );
    if (!innerControl) return div({ class: 'field' }, div({ class: 'label' }, head, box), isNull ? null : use(Field, { ...props, schema: { ...inner, description: undefined }, bare: true }), foot);
    return div(
      { class: 'field' },
      props.bare ? null : label({ for: id }, head),
      div(
        { class: 'row nowrap' },
        innerControl({
          schema: inner,
          root: form.root,
          node: isNull ? undefined : node,
          set,
          leave: form.leave,
          id,
          name: title,
          needed,
          attrs: { ...attrs, disabled: isNull, ...(props.bare ? { 'aria-label': title } : {}) },
        }),
        box,
        props.after,
      ),
      foot,
    );
  }
  if (control) {
    const made = control({ schema, root: form.root, node, set, leave: form.leave, id, name: title, needed, attrs: { ...attrs, ...(props.bare ? { 'aria-label': title } : {}) } });
    return div({ class: 'field' }, props.bare ? null : label({ for: id }, head), props.after ? div({ class: 'row nowrap' }, made, props.after) : made, foot);
  }
  const isThere = node !== undefined || open;
  const add = () => {
    setOpen(true);
    set(least(schema, form.root));
  };
  const body = !isThere
    ? div(null, button({ class: 'b small', type: 'button', id, onClick: add }, icon('plus'), `Add ${title}`))
    : div(
        { class: 'group', id, tabIndex: -1 },
        kind === 'variants' ? use(Variants, { ...props, schema }) : kind === 'array' ? list({ ...props, schema }) : kind === 'map' ? map({ ...props, schema }) : group({ ...props, schema }),
      );
  return fieldset(
    { class: 'field', 'aria-describedby': notes || undefined },
    legend(
      { class: props.bare ? 'sr' : '' },
      head,
      isThere && !needed
        ? button(
            {
              class: 'b small quiet',
              type: 'button',
              onClick: () => {
                setOpen(false);
                set(undefined);
              },
            },
            'Remove',
            span({ class: 'sr' }, ` ${title}`),
          )
        : null,
    ),
    body,
    props.after,
    foot,
  );
}

/** The fields of an object. @param {FieldProps} props @returns {any} */
export function group({ form, schema, node, set, pointer }) {
  const names = Object.keys(schema.properties ?? {});
  const needed = new Set(schema.required ?? []);
  const sorted = [...names.filter((key) => needed.has(key)), ...names.filter((key) => !needed.has(key))];
  const more = schema.additionalProperties && typeof schema.additionalProperties === 'object' ? schema.additionalProperties : null;
  return [
    sorted.map((key) =>
      use(Field, {
        key,
        form,
        schema: schema.properties[key],
        node: field(node, key),
        set: (value) => set(withField(node, key, value, names)),
        pointer: below(pointer, key),
        label: key,
        needed: needed.has(key),
      }),
    ),
    more ? map({ form, schema, node, set, pointer, label: '', needed: false }, new Set(names)) : null,
    sorted.length || more ? null : p({ class: 'note' }, 'Takes no parameters.'),
  ];
}

/** Rows of name and value. @param {FieldProps} props @param {Set<string>} [known] */
function map({ form, schema, node, set, pointer }, known = new Set()) {
  const entries = node?.kind === 'object' ? node.entries : [];
  const put = (/** @type {[string, Node][]} */ next) => set({ kind: 'object', entries: next });
  const free = () => {
    let n = entries.length + 1;
    while (entries.some(([key]) => key === `name${n}`)) n++;
    return `name${n}`;
  };
  return [
    entries.map(([key, value], index) =>
      known.has(key)
        ? null
        : div(
            { key: index, class: 'pair' },
            input({ class: 'in mono', 'aria-label': 'Name', value: key, onChange: (event) => put(entries.map((one, at) => (at === index ? [event.currentTarget.value, one[1]] : one))) }),
            use(Field, {
              form,
              schema: schema.additionalProperties,
              node: value,
              set: (next) => put(entries.map((one, at) => (at === index ? [one[0], next ?? { kind: 'text', value: '' }] : one))),
              pointer: below(pointer, key),
              label: key,
              needed: true,
              bare: true,
            }),
            button({ class: 'b quiet icon-only', type: 'button', 'aria-label': `Remove ${key}`, onClick: () => put(entries.filter((_, at) => at !== index)) }, icon('close')),
          ),
    ),
    div(
      null,
      button(
        { class: 'b small', type: 'button', onClick: () => put([...entries, [free(), least(schema.additionalProperties, form.root) ?? { kind: 'text', value: '' }]]) },
        icon('plus'),
        'Add a name',
      ),
    ),
  ];
}

/** Rows that can be added, removed and moved; cards where they are objects. @param {FieldProps} props */
function list({ form, schema, node, set, pointer, label: title }) {
  const items = node?.kind === 'array' ? node.items : [];
  const put = (/** @type {Node[]} */ next) => set({ kind: 'array', items: next });
  const swap = (/** @type {number} */ x, /** @type {number} */ y) => {
    const next = [...items];
    [next[x], next[y]] = [next[y], next[x]];
    put(next);
  };
  const full = schema.maxItems !== undefined && items.length >= schema.maxItems;
  return [
    items.map((item, index) =>
      use(Field, {
        key: index,
        form,
        schema: schema.items,
        node: item,
        set: (next) => put(items.map((old, at) => (at === index ? (next ?? { kind: 'text', value: '' }) : old))),
        pointer: below(pointer, index),
        label: `${title} ${index + 1}`,
        needed: true,
        bare: true,
        after: div(
          { class: 'row nowrap movers' },
          button({ class: 'b quiet icon-only', type: 'button', 'aria-label': `Move ${title} ${index + 1} up`, disabled: !index, onClick: () => swap(index, index - 1) }, icon('up')),
          button(
            { class: 'b quiet icon-only', type: 'button', 'aria-label': `Move ${title} ${index + 1} down`, disabled: index === items.length - 1, onClick: () => swap(index, index + 1) },
            icon('down'),
          ),
          button({ class: 'b quiet icon-only', type: 'button', 'aria-label': `Remove ${title} ${index + 1}`, onClick: () => put(items.filter((_, at) => at !== index)) }, icon('close')),
        ),
      }),
    ),
    div(
      null,
      button(
        { class: 'b small', type: 'button', disabled: full, onClick: () => put([...items, least(schema.items, form.root) ?? { kind: 'text', value: '' }]) },
        icon('plus'),
        full ? `At most ${schema.maxItems}` : `Add to ${title}`,
      ),
    ),
  ];
}
