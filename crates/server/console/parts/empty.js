// Nothing here yet: one sentence on what would be here, and one action.
import { div, p } from '../dom.js';

/** @param {import('../dom.js').Child} text @param {import('../dom.js').Child} [action] @param {boolean} [center] */
export const empty = (text, action, center) => div({ class: `empty ${center ? 'center' : ''}` }, p(null, text), action);
