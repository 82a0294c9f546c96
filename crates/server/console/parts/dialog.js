// A dialog: the browser's own, so that focus stays in it and goes back to where it came from.
import { useLayoutEffect, useRef } from '../vendor/preact.js';
import { button, dialog, div, footer, h2, header, use } from '../dom.js';
import { icon } from '../icons.js';

/** @param {{ title: import('../dom.js').Child, close: () => void, body: import('../dom.js').Child, actions?: import('../dom.js').Child, wide?: boolean }} props */
function Dialog({ title, close, body, actions, wide }) {
  const box = useRef(/** @type {HTMLDialogElement | null} */ (null));
  useLayoutEffect(() => {
    const from = document.activeElement;
    box.current?.showModal();
    const first = box.current?.querySelector('.body input, .body textarea, .body select');
    if (first instanceof HTMLElement) first.focus();
    return () => {
      if (from instanceof HTMLElement && from.isConnected) from.focus();
    };
  }, []);
  return dialog(
    { ref: box, class: wide ? 'wide' : '', 'aria-labelledby': 'dialog-title', onClose: close, onCancel: close },
    header(null, h2({ id: 'dialog-title' }, title), button({ class: 'b quiet icon-only', type: 'button', 'aria-label': 'Close', onClick: close }, icon('close'))),
    div({ class: 'body' }, body),
    actions ? footer(null, actions) : null,
  );
}

/** @param {Parameters<typeof Dialog>[0]} props */
export const dialogBox = (props) => use(Dialog, props);
