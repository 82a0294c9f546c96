// A JSON Schema to read: fields with their types and what they mean; what has a name opens when it is asked for.
import { useState } from '../vendor/preact.js';
import { button, code, div, dd, dl, dt, p, span, use } from '../dom.js';
import { plain } from '../text.js';
import { resolve } from '../schema/values.js';

/** @param {any} schema */
const named = (schema) => schema?.$ref?.split('/').at(-1);

/** A type in a few words. @param {any} schema @param {any} root @returns {string} */
function kind(schema, root) {
  if (!schema || typeof schema !== 'object') return 'anything';
  if (schema.$ref) return named(schema);
  const several = schema.anyOf ?? schema.oneOf;
  if (several) return several.map((/** @type {any} */ one) => kind(one, root)).join(' or ');
  if (schema.enum) return schema.enum.map((/** @type {unknown} */ one) => JSON.stringify(one)).join(' | ');
  if ('const' in schema) return JSON.stringify(schema.const);
  if (Array.isArray(schema.type)) return schema.type.map((/** @type {string} */ type) => kind({ ...schema, type }, root)).join(' or ');
  if (schema.type === 'array') return `list of ${kind(schema.items, root)}`;
  if (schema.type === 'object' && schema.additionalProperties && !schema.properties) return `map of ${kind(schema.additionalProperties, root)}`;
  return [schema.type ?? 'anything', schema.format ? `(${schema.format})` : ''].filter(Boolean).join(' ');
}

/** The named schemas that a type speaks of. @param {any} schema @returns {any[]} */
function within(schema) {
  if (!schema || typeof schema !== 'object') return [];
  if (schema.$ref) return [schema];
  return [...(schema.anyOf ?? schema.oneOf ?? []), schema.items, schema.additionalProperties].flatMap(within);
}

/** @param {{ schema: any, root: any, open?: boolean }} props */
function Schema({ schema, root, open = false }) {
  const name = named(schema);
  const [shown, setShown] = useState(open || !name);
  if (!shown) return button({ class: 'linkish', type: 'button', 'aria-expanded': false, onClick: () => setShown(true) }, 'Show ', code(null, name));
  const one = resolve(schema, root);
  const fields = Object.entries(one.properties ?? {});
  const inner = within(name ? { ...one, $ref: undefined } : schema);
  return div(
    { class: 'schema' },
    p({ class: 'row' }, name ? code(null, name) : null, fields.length ? null : span({ class: 'note' }, kind(name ? { ...one, $ref: undefined } : schema, root))),
    one.description ? p({ class: 'note pre' }, plain(one.description)) : null,
    fields.length
      ? dl(
          null,
          fields.map(([key, field]) => [
            dt({ key }, code(null, plain(key)), ' ', span({ class: 'note' }, kind(field, root), one.required?.includes(key) ? ', required' : '')),
            dd({ key: `${key}-about` }, field.description ? p({ class: 'note pre' }, plain(field.description)) : null, within(field).map((each) => use(Schema, { key: each.$ref, schema: each, root }))),
          ]),
        )
      : inner.map((each) => use(Schema, { key: each.$ref, schema: each, root })),
  );
}

/** @param {any} schema @param {any} root */
export const schemaOf = (schema, root) => use(Schema, { schema, root, open: true });
