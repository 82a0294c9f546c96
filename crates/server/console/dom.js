// A typed function per element: `div({ class: 'card' }, 'text')`. Text is always a text node.
import { h } from './vendor/preact.js';

/** @typedef {import('preact').ComponentChild | import('preact').ComponentChild[]} Child */
/** @typedef {import('preact').JSX.IntrinsicElements} Elements */
/** @typedef {{ [Tag in keyof Elements]: (props?: (Elements[Tag] & { [data: `data-${string}`]: unknown }) | null, ...children: Child[]) => import('preact').VNode }} Table */

const table = /** @type {Table} */ (new Proxy({}, {
  /** @param {string} tag */
  get: (_, tag) => /** @param {any} props @param {any[]} children */ (props, ...children) => h(tag, props ?? null, ...children),
}));

export const {
  a, article, aside, bdi, button, circle, code, datalist, dd, del, details, dialog, div, dl, dt, em, fieldset, figcaption,
  figure, footer, form, h1, h2, h3, header, i, img, input, ins, kbd, label, legend, li, main, nav, ol, option, p, path, pre,
  rect, section, select, small, span, strong, summary, svg, table: tableElement, tbody, td, textarea, th, thead, time, tr, ul,
} = table;

/**
 * A component as an element.
 * @template P
 * @param {(props: P) => any} component
 * @param {P & { key?: string | number }} props
 */
export const use = (component, props) => h(/** @type {any} */ (component), /** @type {any} */ (props));
