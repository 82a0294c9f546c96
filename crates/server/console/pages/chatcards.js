// The cards of the chat: a call, a question for a yes or no, a question with choices.
import { useState } from '../vendor/preact.js';
import { a, button, details, div, footer, form, h2, h3, input, li, p, section, span, summary, ul } from '../dom.js';
import { boxed, valueTree } from '../parts/json.js';
import { chip } from '../parts/state.js';
import { say, talk } from '../talk.js';
import { to } from '../router.js';
import { name, only, plain } from '../text.js';
import { left, span as spanOf, useRested } from '../time.js';

/** The arguments in words. @param {any} input */
function inWords(input) {
  return Object.entries(input ?? {})
    .slice(0, 4)
    .map(([key, value]) => `${key} ${typeof value === 'string' ? `“${value.length > 40 ? `${value.slice(0, 40)}…` : value}”` : JSON.stringify(value)?.slice(0, 40)}`)
    .join(', ');
}

/** @param {{ part: import('../talk.js').ToolPart, running: boolean }} props */
export function ToolCard({ part, running }) {
  const state = part.output === undefined ? (running ? chip('accent', '◐', 'running') : chip('warn', '◌', 'cut off')) : part.failed ? chip('bad', '✕', 'failed') : chip('ok', '●', 'ok');
  return details(
    { class: 'card call' },
    summary(
      null,
      state,
      span({ class: 'mono strong' }, name(part.name)),
      span({ class: 'cut ink-2' }, plain(inWords(part.input))),
    ),
    div(
      { class: 'body' },
      h3(null, 'Arguments'),
      boxed(valueTree(part.input), 'Arguments'),
      part.output === undefined ? null : [h3(null, 'Result'), boxed(valueTree(part.output), 'Result')],
      p({ class: 'note' }, part.executionId ? a({ href: to(['executions', part.executionId]) }, 'In the log') : a({ href: to(['executions'], { q: `${only('tool', part.name)} edge:chat` }) }, 'Calls of this tool from chats')),
    ),
  );
}

/** What the button does: "Delete 2 tasks". @param {import('../talk.js').Confirmation} ask */
function does(ask) {
  const many = Array.isArray(ask.task_id) ? ask.task_id.length : 1;
  const [verb, noun] = /^(\w+?)[-_](\w+)/.exec(ask.action)?.slice(1) ?? [];
  if (!verb || ask.action === 'several') return many > 1 ? `Do all ${many}` : 'Do it';
  const thing = noun.replace(/s$/, '');
  return `${verb[0].toUpperCase()}${verb.slice(1)} ${many === 1 ? `the ${thing}` : `${many} ${thing}s`}`;
}

/** @param {{ ask: import('../talk.js').Confirmation, over: boolean }} props */
export function Confirm({ ask, over }) {
  const rested = useRested(500);
  const seconds = left(ask.expires_at);
  const ids = ask.task_id == null ? [] : [ask.task_id].flat();
  const titles = [ask.task_title].flat();
  const stop = !rested || talk.value.run !== null;
  return section(
    { class: `card ${over || seconds <= 0 ? '' : 'hold'} asks`, 'aria-label': 'Needs your yes' },
    div(
      { class: 'body' },
      h2(null, `${does(ask)}?`),
      ids.length
        ? ul(
            { class: 'plain-list' },
            ids.map((id, at) => li({ key: id }, span({ class: 'mono' }, `#${id}`), ' ', plain(titles[at]))),
          )
        : p(null, plain(ask.message)),
    ),
    over
      ? footer(null, span({ class: 'note' }, 'Answered.'))
      : seconds <= 0
        ? footer(null, chip('warn', '◌', 'expired'), span({ class: 'note' }, 'Ask again to have it done.'))
        : footer(
            null,
            button({ class: 'b hold', type: 'button', disabled: stop, onClick: () => say('yes', { confirmation: ask.id }) }, does(ask)),
            button({ class: 'b', type: 'button', disabled: stop, onClick: () => say('no', { confirmation: ask.id }) }, 'Leave it'),
            span({ class: 'note' }, `expires in ${spanOf(seconds)}${/^delete/.test(ask.action) && /task/.test(ask.action) ? '; can be restored for 30 days' : ask.undo ? `; undo: ${ask.undo}` : ''}`),
          ),
  );
}

/** @param {{ ask: { id: string, question: string, choices: string[] }, over: boolean }} props */
export function Question({ ask, over }) {
  const [text, setText] = useState('');
  const stop = over || talk.value.run !== null;
  return section(
    { class: `card ${over ? '' : 'hold'} asks`, 'aria-label': 'A question' },
    div({ class: 'body' }, h2(null, plain(ask.question))),
    over
      ? footer(null, span({ class: 'note' }, 'Answered.'))
      : ask.choices.length
        ? footer(
            null,
            ask.choices.map((choice) => button({ key: choice, class: 'b', type: 'button', disabled: stop, onClick: () => say(choice) }, plain(choice))),
          )
        : footer(
            null,
            form(
              {
                class: 'row nowrap grow',
                onSubmit: (event) => {
                  event.preventDefault();
                  say(text);
                },
              },
              input({ class: 'in', 'aria-label': 'Your answer', required: true, value: text, onInput: (event) => setText(event.currentTarget.value) }),
              button({ class: 'b hold', disabled: stop }, 'Answer'),
            ),
          ),
  );
}
