// The answer to a call that was made by hand: result, refusal, or waiting for a person, who may approve on the spot.
import { useEffect, useRef, useState } from '../vendor/preact.js';
import { a, button, code, div, footer, h2, h3, header, img, li, p, section, span, strong, ul } from '../dom.js';
import { send } from '../api.js';
import { boxed, inside, read, tree, write } from '../parts/json.js';
import { copyButton } from '../parts/copy.js';
import { shown } from '../parts/problem.js';
import { callState, chip } from '../parts/state.js';
import { to } from '../router.js';
import { session } from '../session.js';
import { ms, plain } from '../text.js';
import { left, span as spanOf, useRested } from '../time.js';

const PICTURES = ['image/png', 'image/jpeg', 'image/gif', 'image/webp'];
const LARGEST = 5 * 1024 * 1024;

/** Pictures in a result, by the types that cannot carry a script. @param {any} data */
function pictures(data) {
  const parts = Array.isArray(data?.content) ? data.content : [];
  return parts.filter(
    (/** @type {any} */ one) => one?.type === 'image' && PICTURES.includes(one.mimeType) && typeof one.data === 'string' && one.data.length * 0.75 <= LARGEST && /^[A-Za-z0-9+/=]+$/.test(one.data),
  );
}

/** @param {{ answer: { dry: boolean, status: number, value: any, text: string }, approve: (id: string) => Promise<void> }} props */
export function Outcome({ answer, approve }) {
  const { value, dry } = answer;
  const box = useRef(/** @type {HTMLElement | null} */ (null));
  const [problem, setProblem] = useState(/** @type {any} */ (null));
  const rested = useRested(500);
  useEffect(() => {
    box.current?.scrollIntoView({ block: 'nearest' });
  }, []);
  const pending = value?.pending;
  const error = value?.error;
  const node = safely(answer.text);
  const result = node && (inside(node, 'data') ?? (value?.metadata || error ? undefined : node));
  const hints = value?.agentHints;
  const state = pending ? 'pending' : error || answer.status >= 400 ? 'error' : 'ok';
  const yes = async () => {
    try {
      await send('POST', `/approvals/${pending.id}`, { decision: 'approve' });
      await approve(pending.id);
    } catch (failed) {
      setProblem(failed);
    }
  };
  return section(
    { class: `card ${pending ? 'hold' : state === 'error' ? 'bad' : 'ok'}`, ref: box, 'aria-live': 'polite', 'aria-label': 'Answer' },
    header(
      null,
      h2(null, dry ? 'Dry run' : 'Answer'),
      dry && state === 'ok' ? chip('ok', '●', 'would go through') : callState(state),
      div(
        { class: 'right' },
        value?.metadata?.executionTime != null ? span({ class: 'note' }, ms(value.metadata.executionTime)) : null,
        value?.metadata?.executionId ? a({ href: to(['executions', value.metadata.executionId]) }, 'See in the log') : null,
      ),
    ),
    div(
      { class: 'body' },
      problem ? shown(problem) : null,
      pending
        ? p(null, strong(null, plain(pending.prompt?.message ?? 'A person must agree first.')), span({ class: 'note' }, ` Expires in ${spanOf(left(pending.expires_at))}.`))
        : error
          ? div(
              { class: 'stack tight' },
              p(null, strong(null, plain(error.message))),
              p({ class: 'note' }, code(null, error.code), error.retryable ? ' · may be tried again' : '', error.outcome ? ` · outcome: ${error.outcome}` : ''),
              (error.details ?? []).map((/** @type {any} */ one, /** @type {number} */ index) => p({ key: index }, code(null, plain(one.pointer || '/')), ' ', plain(one.message))),
            )
          : dry && value?.data?.needsApproval
            ? p(null, chip('hold', '‖', 'would wait for a person'))
            : null,
      pictures(value?.data).map((/** @type {any} */ one, /** @type {number} */ index) =>
        img({ key: index, class: 'picture', alt: `Picture ${index + 1} of the result`, src: `data:${one.mimeType};base64,${one.data}` }),
      ),
      result && !pending ? div({ class: 'stack tight' }, div({ class: 'row' }, h3({ class: 'grow' }, 'Data'), copyButton(write(result), 'Copy the data')), boxed(tree(result), 'Data', true)) : null,
      hints?.reasoning ? p({ class: 'note' }, plain(hints.reasoning)) : null,
      hints?.suggestedNextActions?.length
        ? div(
            { class: 'stack tight' },
            h3(null, 'Next'),
            ul(
              { class: 'plain-list' },
              hints.suggestedNextActions.map((/** @type {any} */ one, /** @type {number} */ index) =>
                li({ key: index }, a({ class: 'mono', href: to(['tools', one.action]) }, plain(one.action)), ' ', span({ class: 'ink-2' }, plain(one.description))),
              ),
            ),
          )
        : null,
    ),
    pending
      ? footer(
          null,
          session.value?.person && pending.kind === 'approval' ? button({ class: 'b hold', type: 'button', disabled: !rested, onClick: yes }, 'Approve and run') : null,
          a({ class: 'b', href: to(['approvals', pending.id]) }, 'Open approvals'),
          span({ class: 'note' }, 'Bound to exactly these arguments, used once.'),
        )
      : null,
  );
}

/** @param {string} text */
function safely(text) {
  try {
    return read(text);
  } catch {
    return null;
  }
}
