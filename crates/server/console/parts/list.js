// A long list of rows of one height, drawn only where visible.
import { useLayoutEffect, useRef, useState } from '../vendor/preact.js';
import { div, use } from '../dom.js';

/**
 * @template T
 * @param {{ rows: T[], height: number, draw: (row: T, at: number) => any, label: string, role?: any, box?: { current: HTMLElement | null }, onEnd?: () => void }} props
 */
function Rows({ rows, height, draw, label, role = 'rowgroup', box, onEnd }) {
  const own = useRef(/** @type {HTMLElement | null} */ (null));
  const at = box ?? own;
  const inner = useRef(/** @type {HTMLElement | null} */ (null));
  const [view, setView] = useState({ top: 0, tall: 800 });
  useLayoutEffect(() => {
    const element = at.current;
    if (!element) return;
    const look = () => setView((old) => (Math.abs(old.top - element.scrollTop) >= height || old.tall !== element.clientHeight ? { top: element.scrollTop, tall: element.clientHeight } : old));
    const seen = new ResizeObserver(look);
    seen.observe(element);
    element.addEventListener('scroll', look, { passive: true });
    look();
    return () => {
      seen.disconnect();
      element.removeEventListener('scroll', look);
    };
  }, [height]);
  const from = Math.max(0, Math.floor(view.top / height) - 8);
  const to = Math.min(rows.length, Math.ceil((view.top + view.tall) / height) + 8);
  useLayoutEffect(() => {
    // Set through the object model: a style attribute is against the page's policy.
    if (inner.current) {
      inner.current.style.height = `${rows.length * height}px`;
      inner.current.style.paddingTop = `${from * height}px`;
    }
  });
  if (onEnd && to >= rows.length && rows.length) queueMicrotask(onEnd);
  return div(
    { class: 'rows', ref: /** @type {any} */ (at), role, 'aria-label': label },
    div(
      { class: 'rows-inner', role: 'presentation', ref: /** @type {any} */ (inner) },
      rows.slice(from, to).map((row, index) => draw(row, from + index)),
    ),
  );
}

/**
 * @template T
 * @param {{ rows: T[], height: number, draw: (row: T, at: number) => any, label: string, role?: string, box?: { current: HTMLElement | null }, onEnd?: () => void }} props
 */
export const rowsOf = (props) => use(/** @type {any} */ (Rows), props);
