// What a schema means for a form: references resolved, parts merged, which control fits; and the JSON that is edited.
// The value of a form is a tree of nodes that keep numbers as they were typed, so that large ones stay exact.

/** @typedef {import('../parts/json.js').Node} Node */
/** @typedef {Record<string, any>} Schema */

/** @param {string} part */
const unescape = (part) => part.replaceAll('~1', '/').replaceAll('~0', '~');
/** @param {string} pointer @param {string | number} key */
export const below = (pointer, key) => `${pointer}/${String(key).replaceAll('~', '~0').replaceAll('/', '~1')}`;

/** A reference within the document. @param {string} ref @param {Schema} root @returns {Schema | null} */
function find(ref, root) {
  if (!ref.startsWith('#')) return null;
  let here = /** @type {any} */ (root);
  for (const part of ref.slice(1).split('/').filter(Boolean)) here = here?.[unescape(decodeURIComponent(part))];
  return here && typeof here === 'object' ? here : null;
}

/** The schema with references followed and `allOf` merged. @param {any} schema @param {Schema} root @param {number} [depth] @returns {Schema} */
export function resolve(schema, root, depth = 0) {
  if (schema === true || schema == null || typeof schema !== 'object' || depth > 20) return {};
  if (schema.$ref) {
    const { $ref, ...own } = schema;
    const target = find($ref, root);
    return target ? merge(resolve(target, root, depth + 1), own) : { ...own, not: {} };
  }
  if (!schema.allOf) return schema;
  const { allOf, ...own } = schema;
  return allOf.reduce((/** @type {Schema} */ sum, /** @type {any} */ part) => merge(sum, resolve(part, root, depth + 1)), own);
}

/** @param {Schema} x @param {Schema} y @returns {Schema} */
function merge(x, y) {
  const sum = { ...x, ...y };
  if (x.properties && y.properties) sum.properties = { ...x.properties, ...y.properties };
  if (x.required && y.required) sum.required = [...new Set([...x.required, ...y.required])];
  return sum;
}

/** @typedef {'text' | 'long' | 'secret' | 'choice' | 'fixed' | 'number' | 'boolean' | 'object' | 'map' | 'array' | 'nullable' | 'variants' | 'json'} Kind */

const SECRET = /^(password|passwd|token|secret|api[-_]?key|authorization)$/i;
const ODD = ['patternProperties', 'if', 'not', 'dependentSchemas', 'prefixItems', 'contains', 'propertyNames', 'unevaluatedProperties', '$dynamicRef'];

/** Which control fits. @param {Schema} schema resolved @param {string} name @param {Schema} root @returns {Kind} */
export function kindOf(schema, name, root) {
  if ('const' in schema) return 'fixed';
  if (schema.enum) return 'choice';
  if (ODD.some((word) => word in schema)) return 'json';
  const variants = variantsOf(schema, root);
  if (variants) {
    if (variants.length === 2 && variants.some(isNull)) return 'nullable';
    return variants.every((one) => 'const' in one) ? 'choice' : 'variants';
  }
  const type = schema.type ?? (schema.properties ? 'object' : schema.items ? 'array' : undefined);
  if (type === 'string') {
    if (schema.writeOnly || schema.format === 'password' || SECRET.test(name)) return 'secret';
    return (schema.maxLength ?? 0) > 200 ? 'long' : 'text';
  }
  if (type === 'number' || type === 'integer') return 'number';
  if (type === 'boolean') return 'boolean';
  if (type === 'array') return schema.items && typeof schema.items === 'object' ? 'array' : 'json';
  if (type === 'object') return schema.properties ? 'object' : schema.additionalProperties && typeof schema.additionalProperties === 'object' ? 'map' : 'json';
  return 'json';
}

/** @param {Schema} schema */
const isNull = (schema) => schema.type === 'null' || ('const' in schema && schema.const === null);

/** The alternatives of a schema; several types count as such. @param {Schema} schema @param {Schema} root @returns {Schema[] | null} */
export function variantsOf(schema, root) {
  if (Array.isArray(schema.type)) return schema.type.length > 1 ? schema.type.map((type) => ({ ...schema, type })) : null;
  const list = schema.oneOf ?? schema.anyOf;
  // Alternatives that only say which fields are needed change nothing about the controls.
  if (!list?.length || list.every((/** @type {any} */ one) => one && Object.keys(one).every((key) => key === 'required' || key === 'title'))) return null;
  const { oneOf: _one, anyOf: _any, title: _title, description: _about, ...own } = schema;
  const all = list.map((/** @type {any} */ one) => merge(own, resolve(one, root)));
  return all.length === 1 ? null : all;
}

/** The schema of "X or null" without the null. @param {Schema} schema @param {Schema} root @returns {Schema} */
export function withoutNull(schema, root) {
  const { title, description } = schema;
  return { ...variantsOf(schema, root)?.find((one) => !isNull(one)), ...(title ? { title } : {}), ...(description ? { description } : {}) };
}

/** What a variant is called: its title, else what tells it apart. @param {Schema} schema @param {number} index */
export function variantName(schema, index) {
  if (schema.title) return schema.title;
  if ('const' in schema) return JSON.stringify(schema.const);
  const consts = Object.entries(schema.properties ?? {}).filter(([, one]) => one && typeof one === 'object' && 'const' in /** @type {any} */ (one));
  if (consts.length) return consts.map(([key, one]) => `${key}: ${/** @type {any} */ (one).const}`).join(', ');
  if (schema.enum) return schema.enum.map(String).join(' | ');
  if (schema.properties) return (schema.required ?? Object.keys(schema.properties)).join(', ') || `Variant ${index + 1}`;
  return schema.type ?? `Variant ${index + 1}`;
}

/** The variant that a value fits best; 0 without a value. @param {Node | undefined} node @param {Schema[]} variants @param {Schema} root */
export function variantOf(node, variants, root) {
  if (!node) return 0;
  const scores = variants.map((variant) => {
    if ('const' in variant) return same(node, variant.const) ? 9 : -9;
    if (variant.enum) return variant.enum.some((/** @type {any} */ one) => same(node, one)) ? 9 : -5;
    const is = typeOf(node);
    const wants = variant.type ?? (variant.properties ? 'object' : undefined);
    if (wants && wants !== is && !(wants === 'number' && is === 'integer')) return -9;
    if (node.kind !== 'object') return 1;
    return node.entries.reduce(
      (sum, [key, value]) => {
        const part = variant.properties?.[key];
        if (part === undefined) return sum - 1;
        const one = resolve(part, root);
        return sum + ('const' in one ? (same(value, one.const) ? 5 : -5) : 1);
      },
      (variant.required ?? []).every((/** @type {string} */ key) => node.entries.some(([known]) => known === key)) ? 1 : 0,
    );
  });
  return scores.indexOf(Math.max(...scores));
}

/** @param {Node} node */
function typeOf(node) {
  if (node.kind === 'text') return 'string';
  if (node.kind !== 'bare') return node.kind;
  return node.raw === 'null' ? 'null' : node.raw === 'true' || node.raw === 'false' ? 'boolean' : /^-?\d+$/.test(node.raw) ? 'integer' : 'number';
}

/** @param {Node | undefined} node @param {unknown} value */
export const same = (node, value) => !!node && (node.kind === 'text' ? node.value === value : node.kind === 'bare' && node.raw === JSON.stringify(value));

/** @param {string} value @returns {Node} */
export const text = (value) => ({ kind: 'text', value });
/** @param {string} raw @returns {Node} */
export const bare = (raw) => ({ kind: 'bare', raw });
/** What was typed as a number: a number if it is one, else text, which the server's check then names. @param {string} typed @returns {Node} */
export const numeric = (typed) => (/^-?(0|[1-9]\d*)(\.\d+)?([eE][-+]?\d+)?$/.test(typed.trim()) ? bare(typed.trim()) : text(typed));

/** @param {Node | undefined} node @param {string} key */
export const field = (node, key) => (node?.kind === 'object' ? node.entries.find(([known]) => known === key)?.[1] : undefined);

/** @param {Node | undefined} node @param {string} key @param {Node | undefined} value @param {string[]} [order] @returns {Node} */
export function withField(node, key, value, order = []) {
  const entries = node?.kind === 'object' ? node.entries : [];
  if (value === undefined) return { kind: 'object', entries: entries.filter(([known]) => known !== key) };
  if (entries.some(([known]) => known === key)) return { kind: 'object', entries: entries.map(([known, old]) => [known, known === key ? value : old]) };
  const rank = (/** @type {string} */ one) => {
    const at = order.indexOf(one);
    return at < 0 ? order.length : at;
  };
  return { kind: 'object', entries: [...entries, /** @type {[string, Node]} */ ([key, value])].sort(([x], [y]) => rank(x) - rank(y)) };
}

/** The least that a value of this schema has: constants, and fields that are needed and are objects. @param {any} part @param {Schema} root @param {number} [depth] @returns {Node | undefined} */
export function least(part, root, depth = 0) {
  const schema = resolve(part, root);
  if ('const' in schema) return fromValue(schema.const);
  const kind = kindOf(schema, '', root);
  if (kind === 'variants') return least(variantsOf(schema, root)?.[0], root, depth);
  if (kind === 'array' || schema.type === 'array') return { kind: 'array', items: [] };
  if (kind !== 'object' && kind !== 'map') return schema.type === 'object' ? { kind: 'object', entries: [] } : undefined;
  /** @type {[string, Node][]} */
  const entries = [];
  for (const key of schema.required ?? []) {
    const value = depth < 3 ? least(schema.properties?.[key], root, depth + 1) : undefined;
    if (value) entries.push([key, value]);
  }
  return { kind: 'object', entries };
}

/** @param {any} value @returns {Node} */
export function fromValue(value) {
  if (typeof value === 'string') return text(value);
  if (Array.isArray(value)) return { kind: 'array', items: value.map(fromValue) };
  if (value && typeof value === 'object') return { kind: 'object', entries: Object.entries(value).map(([key, one]) => [key, fromValue(one)]) };
  return bare(JSON.stringify(value ?? null));
}

/** Without what the log has masked, so that a secret is typed again. @param {Node} node @returns {Node} */
export function unmasked(node) {
  if (node.kind === 'array') return { kind: 'array', items: node.items.map(unmasked) };
  if (node.kind !== 'object') return node;
  return { kind: 'object', entries: node.entries.filter(([, one]) => !(one.kind === 'text' && one.value === '[masked]')).map(([key, one]) => [key, unmasked(one)]) };
}
