// The messages at the edge of the page.
import { button, div, span } from '../dom.js';
import { icon } from '../icons.js';
import { close, toasts } from './toast.js';

export const Toasts = () =>
  toasts.value.map((one) =>
    div(
      { key: one.id, class: `toast ${one.tone ?? ''}` },
      span(null, one.text),
      one.step
        ? button(
            {
              class: 'b small',
              type: 'button',
              onClick: () => {
                close(one.id);
                one.step?.act();
              },
            },
            one.step.label,
          )
        : null,
      button({ class: 'b small quiet icon-only', type: 'button', 'aria-label': 'Close', onClick: () => close(one.id) }, icon('close')),
    ),
  );
