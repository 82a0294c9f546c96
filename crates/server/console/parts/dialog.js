// A dialog: the browser's own, so that focus stays in it and goes back to where it came from.
import { useLayoutEffect, useRef } from '../vendor/preact.js';
import { button, dialog, div, footer, h2, header, use } from '../dom.js';
import { icon } from '../icons.js';

/** @param {{ title: import('../dom.js').Child, close: () => void, body: import('../dom.js').Child, actions?: import('../dom.js').Child, wide?: boolean }} props */
function Dialog({ title, close, body, actions, wide }) {
  const box = useRef(/** @type {HTMLDialogElement | null} */ (null));
  const over = useRef(false);
  // Escape goes by the state, as the button does: a key right after it finds no dialog that is half closed.
  const escape = (/** @type {Event} */ event) => {
    event.preventDefault();
    close();
  };
  const leave = () => {
    if (!over.current) close();
  };
  useLayoutEffect(() => {
    const shown = box.current;
    const from = document.activeElement;
    shown?.showModal();
    const first = shown?.querySelector('.body input, .body textarea, .body select');
    if (first instanceof HTMLElement) first.focus();
    return () => {
      // Nothing behind an open dialog can take the focus. Its closing tells nobody anything new by then.
      over.current = true;
      shown?.close();
      if (from instanceof HTMLElement && from.isConnected) from.focus();
    };
  }, []);
  return dialog(
    { ref: box, class: wide ? 'wide' : '', 'aria-labelledby': 'dialog-title', onCancel: escape, onClose: leave },
    header(null, h2({ id: 'dialog-title' }, title), button({ class: 'b quiet icon-only', type: 'button', 'aria-label': 'Close', onClick: close }, icon('close'))),
    div({ class: 'body' }, body),
    actions ? footer(null, actions) : null,
  );
}

/** @param {Parameters<typeof Dialog>[0]} props */
export const dialogBox = (props) => use(Dialog, props);
