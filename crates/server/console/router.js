// The address and the page that belongs to it. Links are plain links; the router takes them over.
import { signal } from './vendor/preact.js';

const ROOT = '/console';

/** @typedef {{ path: string[], query: URLSearchParams }} Place */

/** @returns {Place} */
const here = () => ({ path: location.pathname.slice(ROOT.length).split('/').filter(Boolean).map(decode), query: new URLSearchParams(location.search) });

/** @param {string} part */
function decode(part) {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

/** @type {import('@preact/signals').Signal<Place>} */
export const place = signal(here());

/** The address of a page. @param {(string | null | undefined)[]} path @param {Record<string, string | null | undefined>} [query] */
export function to(path, query = {}) {
  const search = new URLSearchParams();
  for (const [key, value] of Object.entries(query)) if (value) search.set(key, value);
  const parts = path.filter((part) => part != null && part !== '').map((part) => encodeURIComponent(/** @type {string} */ (part)));
  return `${ROOT}/${parts.join('/')}${search.size ? `?${search}` : ''}`;
}

/** @param {string} address @param {{ replace?: boolean }} [how] */
export function go(address, { replace = false } = {}) {
  if (address !== location.pathname + location.search) history[replace ? 'replaceState' : 'pushState'](null, '', address);
  place.value = here();
}

addEventListener('popstate', () => {
  place.value = here();
});
document.addEventListener('click', (event) => {
  if (event.defaultPrevented || event.button || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
  const link = event.target instanceof Element ? event.target.closest('a[href]') : null;
  if (!(link instanceof HTMLAnchorElement) || link.target || link.origin !== location.origin || !`${link.pathname}/`.startsWith(`${ROOT}/`) || link.hash) return;
  event.preventDefault();
  go(link.pathname + link.search);
});
