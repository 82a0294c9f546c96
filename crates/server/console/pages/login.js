// Logging in: by the link of `toolroom console`, or by a person's key.
import { useEffect, useState } from '../vendor/preact.js';
import { button, code, div, form, h1, input, label, main, p, span } from '../dom.js';
import { messages } from '../later.js';
import { copyable } from '../parts/copy.js';
import { tabTitle } from '../parts/page.js';
import { shown } from '../parts/problem.js';
import { logIn, refused, start } from '../session.js';

export function Login() {
  const [key, setKey] = useState('');
  const [busy, setBusy] = useState(false);
  useEffect(() => {
    tabTitle.value = 'Log in';
  }, []);
  const problem = refused.value;
  const isAway = problem?.code === 'offline';
  const submit = async (/** @type {Event} */ event) => {
    event.preventDefault();
    setBusy(true);
    await logIn({ key: key.trim() });
    setBusy(false);
    setKey('');
  };
  return main(
    { class: 'login', id: 'main' },
    div({ class: 'brand' }, span({ class: 'mark', 'aria-hidden': 'true' }), 'Toolroom'),
    div(
      { class: 'card' },
      div(
        { class: 'body' },
        h1(null, 'Log in'),
        problem ? shown(problem, isAway ? [{ label: 'Try again', act: start }] : []) : null,
        p(null, 'Open the link that ', code(null, 'toolroom serve'), ' printed, or run this for a new one:'),
        copyable('toolroom console', 'Copy the command'),
        p({ class: 'or' }, 'or'),
        form(
          { class: 'field', onSubmit: submit },
          label({ for: 'key' }, 'A person’s key'),
          div(
            { class: 'row nowrap' },
            input({
              id: 'key',
              class: 'in mono',
              type: 'password',
              autocomplete: 'off',
              placeholder: 'tr_…',
              required: true,
              value: key,
              'aria-describedby': 'key-about',
              onInput: (event) => setKey(event.currentTarget.value),
            }),
            button({ class: 'b primary', disabled: busy }, 'Log in'),
          ),
          p({ class: 'about', id: 'key-about' }, 'Made with ', code(null, 'toolroom keys create --user NAME --person'), '. An agent’s key gives no session: it could approve its own calls.'),
        ),
      ),
    ),
    messages(),
  );
}
