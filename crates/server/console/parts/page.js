// The head of a page: its one h1, which takes the focus when the page is opened, and the title of the tab.
import { signal, useEffect, useRef } from '../vendor/preact.js';
import { div, h1, use } from '../dom.js';

/** The title of the tab, without the number of what waits. */
export const tabTitle = signal('Toolroom');
/** Set by the router: the next title takes the focus. */
export const focusNext = { wanted: false };

/** @param {{ title: string, shown?: import('../dom.js').Child, beside?: import('../dom.js').Child, right?: import('../dom.js').Child }} props */
function Head({ title, shown, beside, right }) {
  const at = useRef(/** @type {HTMLHeadingElement | null} */ (null));
  useEffect(() => {
    tabTitle.value = title;
    if (focusNext.wanted) {
      focusNext.wanted = false;
      at.current?.focus({ preventScroll: true });
      scrollTo(0, 0);
    }
  }, [title]);
  return div({ class: 'title' }, h1({ ref: at, tabIndex: -1 }, shown ?? title), beside, right ? div({ class: 'right' }, right) : null);
}

/** @param {Parameters<typeof Head>[0]} props */
export const head = (props) => use(Head, props);
