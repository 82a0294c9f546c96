// Approvals: what waits for a person; what was decided is in decided.js.
import { useEffect, useLayoutEffect, useRef, useState } from '../vendor/preact.js';
import { a, article, button, code, dd, div, dl, dt, footer, form, h2, header, input, kbd, label, p, section, span, strong, use } from '../dom.js';
import { get, send } from '../api.js';
import { approvals, upsertApproval } from '../live.js';
import { boxed, valueTree } from '../parts/json.js';
import { long } from '../parts/long.js';
import { head } from '../parts/page.js';
import { bars, empty, shown } from '../parts/problem.js';
import { chip } from '../parts/state.js';
import { toast } from '../parts/toast.js';
import { to } from '../router.js';
import { notifications } from '../settings.js';
import { onKeys } from '../shortcuts.js';
import { Decided, Left, StandingList } from './decided.js';
import { name, plain, some } from '../text.js';
import { useRested } from '../time.js';

/** @typedef {import('../types.js').Approval} Approval */

/** Buttons work once a card has been at rest this long, so that nobody clicks what has just moved there. */
const REST = 500;

/** @param {import('../main.js').PageProps} props */
export function Approvals({ path, query }) {
  const tab = query.get('show') ?? 'open';
  const waits = approvals.value;
  const [at, setAt] = useState(path[0] ?? null);
  useEffect(() => {
    if (path[0]) {
      setAt(path[0]);
      document.getElementById(`ask-${path[0]}`)?.scrollIntoView({ block: 'center' });
    }
  }, [path[0], waits === null]);
  useLayoutEffect(() => onKeys({ j: () => move(1), k: () => move(-1), a: () => focusOn('approve'), d: () => focusOn('deny') }), [waits, at]);
  const move = (/** @type {number} */ by) => {
    const list = approvals.value ?? [];
    const next = list[Math.max(0, Math.min(list.length - 1, list.findIndex((one) => one.id === at) + by))];
    if (next) {
      setAt(next.id);
      document.getElementById(`ask-${next.id}`)?.focus();
    }
  };
  // A card that has just come is not at rest: the focus goes to its button once it works, unless it went elsewhere.
  const focusOn = (/** @type {string} */ what) => {
    const from = document.activeElement;
    const id = (from?.closest('.ask') ?? document.getElementById(`ask-${at}`) ?? document.querySelector('.ask'))?.id;
    const look = () => {
      const found = id ? document.getElementById(id)?.querySelector(`[data-does="${what}"]`) : null;
      if (found instanceof HTMLButtonElement && found.disabled) {
        if (document.activeElement === from) requestAnimationFrame(look);
      } else if (found instanceof HTMLElement) found.focus();
    };
    look();
  };
  return div(
    { class: 'page narrow' },
    head({ title: 'Approvals', beside: waits?.length ? chip('hold', '‖', `${waits.length} ${waits.length === 1 ? 'waits' : 'wait'}`) : null, right: notifyButton() }),
    div(
      { class: 'tabs' },
      [
        ['open', 'Waiting'],
        ['decided', 'Decided'],
        ['standing', 'Approved for a while'],
      ].map(([key, text]) => a({ key, href: to(['approvals'], { show: key === 'open' ? null : key }), 'aria-current': tab === key ? 'page' : undefined }, text)),
    ),
    tab === 'decided'
      ? use(Decided, {})
      : tab === 'standing'
        ? use(StandingList, {})
        : waits === null
          ? bars()
          : waits.length
            ? waits.map((one) => use(Ask, { key: one.id, one, isAt: at === one.id, enter: () => setAt(one.id) }))
            : section(
                { class: 'card' },
                empty(
                  'Nothing waits for you. Calls of destructive tools and questions of agents appear here by themselves.',
                  a({ class: 'b', href: to(['approvals'], { show: 'decided' }) }, 'See what was decided'),
                  true,
                ),
              ),
  );
}

function notifyButton() {
  if (!globalThis.Notification || Notification.permission === 'denied') return null;
  const on = notifications.value === 'on' && Notification.permission === 'granted';
  return button(
    {
      class: 'b',
      type: 'button',
      'aria-pressed': on,
      onClick: async () => {
        notifications.value = on ? 'off' : (await Notification.requestPermission()) === 'granted' ? 'on' : 'off';
      },
    },
    on ? 'Notifications are on' : 'Notify me',
  );
}

/** @param {{ one: Approval, isAt: boolean, enter: () => void }} props */
function Ask({ one, isAt, enter }) {
  const rested = useRested(REST);
  const [busy, setBusy] = useState(false);
  const [problem, setProblem] = useState(/** @type {any} */ (null));
  const [denying, setDenying] = useState(false);
  const decide = async (/** @type {Record<string, unknown>} */ verdict, /** @type {import('../dom.js').Child} */ done) => {
    setBusy(true);
    try {
      const decided = await send('POST', `/approvals/${one.id}`, verdict);
      upsertApproval({ ...one, ...decided });
      toast(done);
      const heading = document.querySelector('h1');
      if (heading instanceof HTMLElement) heading.focus();
    } catch (error) {
      setProblem(error);
      setBusy(false);
    }
  };
  const stop = busy || !rested;
  const who = one.user ? [strong(null, name(one.user)), one.agentId ? [', through ', name(one.agentId)] : null, one.edge ? span({ class: 'note' }, ` by ${one.edge}`) : null] : name(one.profile);
  const title = { approval: one.tool, question: 'A question', confirmation: 'Asked in the chat' }[one.kind];
  return article(
    { class: `card ask ${one.kind === 'approval' ? '' : one.kind} ${isAt ? 'at' : ''}`, id: `ask-${one.id}`, tabIndex: -1, 'aria-label': `${title}, from ${one.user ?? 'somebody'}`, onFocusIn: enter },
    header(
      null,
      h2({ class: one.kind === 'approval' ? 'mono' : '' }, one.kind === 'approval' ? a({ class: 'bare', href: to(['tools', one.tool]) }, name(one.tool)) : title),
      span({ class: 'ink-2' }, who),
      div({ class: 'right' }, use(Left, { at: one.expires_at })),
    ),
    div(
      { class: 'body' },
      problem
        ? shown(problem, [
            {
              label: 'Read the list again',
              act: () =>
                get('/approvals').then((found) => {
                  approvals.value = found.approvals;
                }),
            },
          ])
        : null,
      one.kind === 'approval' ? facts(one) : p({ class: 'question' }, long(one.prompt.message)),
      one.kind === 'question' && !one.prompt.choices?.length ? use(FreeAnswer, { send: (answer) => decide({ answer }, 'Answered.'), stop }) : null,
    ),
    one.kind === 'confirmation'
      ? footer(null, a({ class: 'b', href: to(['chat', one.conversationId]) }, 'Answer in the conversation'), span({ class: 'note' }, 'Only a message in its conversation is a yes.'))
      : one.kind === 'question'
        ? one.prompt.choices?.length
          ? footer(
              null,
              one.prompt.choices.map((choice, index) =>
                button({ key: choice, class: 'b', type: 'button', disabled: stop, 'data-does': index ? undefined : 'approve', onClick: () => decide({ answer: choice }, 'Answered.') }, plain(choice)),
              ),
            )
          : null
        : denying
          ? use(DenyForm, { stop, cancel: () => setDenying(false), deny: (reason) => decide({ decision: 'deny', ...(reason ? { reason } : {}) }, ['Denied ', name(one.tool), '.']) })
          : footer(
              null,
              button(
                { class: 'b hold', type: 'button', disabled: stop, 'data-does': 'approve', onClick: () => decide({ decision: 'approve' }, ['Approved ', name(one.tool), '.']) },
                'Approve this call',
              ),
              one.standingAllowed
                ? button(
                    {
                      class: 'b',
                      type: 'button',
                      disabled: stop,
                      title: 'This tool, for this key, until 8 hours from now or a changed definition. It can be taken back at any time.',
                      onClick: () => decide({ decision: 'approve', for_seconds: 8 * 3600 }, ['Approved ', name(one.tool), ' for 8 hours.']),
                    },
                    'Approve for 8 hours',
                  )
                : null,
              button({ class: 'b', type: 'button', disabled: stop, 'data-does': 'deny', onClick: () => setDenying(true) }, 'Deny…'),
              span({ class: 'note' }, 'Bound to exactly these arguments, used once. ', kbd(null, 'a'), ' ', kbd(null, 'd')),
            ),
  );
}

/** The arguments as a table, what they mean, and what undoes it. @param {Approval} one */
function facts(one) {
  const rows = Object.entries(one.arguments ?? {});
  return dl(
    { class: 'kv' },
    one.target ? [dt(null, 'Concerns'), dd(null, strong(null, plain(one.target)))] : null,
    rows.length ? rows.map(([key, value]) => [dt({ class: 'mono' }, name(key)), dd(null, argument(value, key))]) : [dt(null, 'Arguments'), dd(null, 'none')],
    dt(null, 'Undo'),
    dd(null, one.undo ? plain(one.undo) : one.destructive ? span({ class: 'warn-ink' }, '▲ cannot be undone') : 'not stated'),
  );
}

/** @param {unknown} value @param {string} key */
function argument(value, key) {
  if (typeof value === 'string' && (value.length > 160 || value.includes('\n'))) return use(Folded, { text: value, label: key });
  if (typeof value === 'string') return span(null, plain(value));
  if (value !== null && typeof value === 'object') return valueTree(value);
  return code(null, JSON.stringify(value));
}

/** @param {{ text: string, label: string }} props */
function Folded({ text, label: of }) {
  const [open, setOpen] = useState(false);
  const lines = text.split('\n').length;
  return div(
    { class: 'stack tight' },
    open ? boxed(div({ class: 'mono pre' }, long(text)), of) : span({ class: 'mono cut' }, plain(text.slice(0, 120).replaceAll('\n', ' ')), '…'),
    div(
      null,
      button({ class: 'linkish', type: 'button', 'aria-expanded': open, onClick: () => setOpen(!open) }, open ? 'Fold' : `Show all: ${some(lines, 'line')}, ${some(text.length, 'character')}`),
    ),
  );
}

/** @param {{ send: (answer: string) => void, stop: boolean }} props */
function FreeAnswer({ send: answerWith, stop }) {
  const [text, setText] = useState('');
  return form(
    {
      class: 'row nowrap',
      onSubmit: (event) => {
        event.preventDefault();
        answerWith(text);
      },
    },
    input({ class: 'in', 'aria-label': 'Your answer', placeholder: 'Your answer', required: true, 'data-does': 'approve', value: text, onInput: (event) => setText(event.currentTarget.value) }),
    button({ class: 'b hold', disabled: stop }, 'Send the answer'),
  );
}

/** @param {{ stop: boolean, deny: (reason: string) => void, cancel: () => void }} props */
function DenyForm({ stop, deny, cancel }) {
  const [reason, setReason] = useState('');
  const field = useRef(/** @type {HTMLInputElement | null} */ (null));
  useEffect(() => field.current?.focus(), []);
  return footer(
    null,
    form(
      {
        class: 'deny',
        onSubmit: (event) => {
          event.preventDefault();
          deny(reason.trim());
        },
      },
      label({ class: 'sr', for: 'deny-reason' }, 'Why'),
      input({
        ref: field,
        id: 'deny-reason',
        class: 'in',
        maxLength: 500,
        placeholder: 'Why (the agent is told; may stay empty)',
        value: reason,
        onInput: (event) => setReason(event.currentTarget.value),
        onKeyDown: (event) => {
          if (event.key === 'Escape') {
            event.stopPropagation();
            cancel();
          }
        },
      }),
      button({ class: 'b danger', disabled: stop }, 'Deny this call'),
      button({ class: 'b quiet', type: 'button', onClick: cancel }, 'Back'),
    ),
  );
}
