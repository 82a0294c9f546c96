// Chat: conversations at the left, what is said, done and asked at the right.
import { useEffect, useLayoutEffect, useRef, useState } from '../vendor/preact.js';
import { a, article, aside, button, div, form, h2, input, li, option, p, section, select, span, textarea, ul, use } from '../dom.js';
import { get, send } from '../api.js';
import { icon } from '../icons.js';
import { markdown } from '../markdown.js';
import { dialogBox } from '../parts/dialog.js';
import { head } from '../parts/page.js';
import { bars, loaded, shown, useLoaded } from '../parts/problem.js';
import { chip } from '../parts/state.js';
import { toast } from '../parts/toast.js';
import { go, to } from '../router.js';
import { cancel, openTalk, say, talk, talks } from '../talk.js';
import { name, plain } from '../text.js';
import { when } from '../time.js';
import { Confirm, Question, ToolCard } from './chatcards.js';

/** @typedef {import('../talk.js').Message} Message */

/** @param {import('../main.js').PageProps} props */
export function ChatPage({ path }) {
  const id = path[0] ?? null;
  const [profile, setProfile] = useState('default');
  useEffect(() => {
    openTalk(id);
  }, [id]);
  const now = talk.value;
  // A new conversation gets its address once the server has named it.
  useEffect(() => {
    if (now.id && !id && now.messages.length) go(to(['chat', now.id]), { replace: true });
  }, [now.id]);
  const list = useLoaded((signal) => get('/conversations', { limit: 50 }, signal), [], [talks.value]);
  const model = useLoaded((signal) => get('/chat/model', {}, signal), []);
  const profiles = useLoaded((signal) => get('/profiles', {}, signal), []);
  const title = now.title || list.value?.conversations.find((/** @type {any} */ one) => one.id === id)?.title || (id ? 'Conversation' : 'New conversation');
  const [managing, setManaging] = useState(false);
  return div(
    { class: `page talk ${id ? 'opened' : ''}` },
    aside(
      { class: 'talks', 'aria-label': 'Conversations' },
      a({ class: 'b', href: to(['chat']) }, icon('plus'), 'New conversation'),
      loaded(list, ({ conversations }) =>
        ul(
          null,
          conversations.map((/** @type {any} */ one) =>
            li(
              { key: one.id },
              a(
                { class: 'item', href: to(['chat', one.id]), 'aria-current': one.id === id ? 'page' : undefined },
                span({ class: 'cut' }, plain(one.title || 'Untitled')),
                span({ class: 'note' }, when(one.updated_at)),
              ),
            ),
          ),
        ),
      ),
    ),
    section(
      { class: 'thread' },
      a({ class: 'all-talks crumb', href: to(['chat']) }, 'All conversations'),
      head({
        title,
        shown: plain(title),
        beside: now.id ? chip('', '', ['profile ', name(now.profile)]) : null,
        right: id ? button({ class: 'b small quiet', type: 'button', onClick: () => setManaging(true) }, 'Rename or forget') : null,
      }),
      model.value && (model.value.kind === 'offline' || !model.value.reachable)
        ? p(
            { class: 'banner' },
            chip('warn', '▲', model.value.kind === 'offline' ? 'no language model' : 'model not reachable'),
            span(
              { class: 'grow' },
              model.value.kind === 'offline'
                ? 'The built-in planner answers: it understands plain requests about your tools. Set up a model under [model] in toolroom.toml.'
                : plain(`${model.value.name} does not answer.`),
            ),
          )
        : null,
      now.error ? shown(now.error, [{ label: 'Start a new conversation', href: to(['chat']) }]) : now.loading ? bars() : use(Messages, { messages: now.messages, running: now.run !== null }),
      use(Composer, { running: now.run !== null, isNew: !now.id, profile, setProfile, profiles: profiles.value?.profiles.map((/** @type {any} */ one) => one.name) ?? ['default'] }),
    ),
    managing && id ? use(Manage, { id, title, close: () => setManaging(false) }) : null,
  );
}

/** @param {{ messages: Message[], running: boolean }} props */
function Messages({ messages, running }) {
  const end = useRef(/** @type {HTMLDivElement | null} */ (null));
  const stick = useRef(true);
  useEffect(() => {
    const look = () => {
      stick.current = innerHeight + scrollY > document.documentElement.scrollHeight - 160;
    };
    addEventListener('scroll', look, { passive: true });
    return () => removeEventListener('scroll', look);
  }, []);
  // It follows the newest words unless somebody has scrolled up to read.
  useLayoutEffect(() => {
    if (stick.current) end.current?.scrollIntoView({ block: 'end' });
  }, [messages]);
  if (!messages.length)
    return div(
      { class: 'empty center' },
      p(null, 'Say what you want done. Tools are called as you would call them, and destructive ones ask you first.'),
      div(
        { class: 'row' },
        ['what is due this week?', 'add buy bread tomorrow', 'what can you do?'].map((text) => button({ key: text, class: 'b small', type: 'button', onClick: () => say(text) }, text)),
      ),
    );
  return div(
    { class: 'messages', role: 'log', 'aria-label': 'Messages' },
    messages.map((one, at) =>
      one.role === 'user'
        ? article(
            { key: at, class: 'said me', 'aria-label': 'You' },
            one.parts.map((part) => (part.kind === 'text' ? p({ class: 'pre' }, plain(part.text)) : null)),
          )
        : article(
            { key: at, class: 'said', 'aria-label': 'Toolroom' },
            one.parts.map((part, index) =>
              part.kind === 'tool'
                ? use(ToolCard, { key: part.id + index, part, running: running && at === messages.length - 1 })
                : part.kind === 'text'
                  ? div({ key: index, class: `words ${part.source}` }, markdown(part.text))
                  : part.kind === 'confirmation'
                    ? use(Confirm, { key: part.ask.id, ask: part.ask, over: !!part.over })
                    : part.kind === 'question'
                      ? use(Question, { key: part.ask.id, ask: part.ask, over: !!part.over })
                      : div({ key: index }, shown(part.problem)),
            ),
            running && at === messages.length - 1 ? p({ class: 'note working', role: 'status' }, '◐ working…') : null,
          ),
    ),
    div({ ref: end, class: 'end' }),
  );
}

/** @param {{ running: boolean, isNew: boolean, profile: string, setProfile: (name: string) => void, profiles: string[] }} props */
function Composer({ running, isNew, profile, setProfile, profiles }) {
  const [text, setText] = useState('');
  const submit = (/** @type {Event} */ event) => {
    event.preventDefault();
    if (!text.trim() || running) return;
    say(text.trim(), { profile });
    setText('');
  };
  return form(
    { class: 'composer', onSubmit: submit },
    textarea({
      class: 'in grows',
      rows: 1,
      maxLength: 10_000,
      'aria-label': 'Your message',
      placeholder: 'Say what you want done',
      value: text,
      onInput: (event) => setText(event.currentTarget.value),
      onKeyDown: (event) => {
        if (event.key === 'Enter' && !event.shiftKey && !event.isComposing) submit(event);
      },
    }),
    isNew && profiles.length > 1
      ? select(
          { class: 'in short', 'aria-label': 'Profile', value: profile, onChange: (event) => setProfile(event.currentTarget.value) },
          profiles.map((one) => option({ key: one, value: one }, one)),
        )
      : null,
    running ? button({ class: 'b', type: 'button', onClick: cancel }, 'Stop') : button({ class: 'b primary', disabled: !text.trim() }, 'Send'),
  );
}

/** @param {{ id: string, title: string, close: () => void }} props */
function Manage({ id, title, close }) {
  const [text, setText] = useState(title);
  const [problem, setProblem] = useState(/** @type {any} */ (null));
  const done = (/** @type {Promise<any>} */ what, /** @type {string} */ word, /** @type {() => void} */ after) =>
    what.then(() => {
      toast(word);
      talks.value += 1;
      close();
      after();
    }, setProblem);
  return dialogBox({
    title: 'This conversation',
    close,
    body: [
      problem ? shown(problem) : null,
      form(
        {
          class: 'row nowrap',
          onSubmit: (event) => {
            event.preventDefault();
            done(send('PATCH', `/conversations/${id}`, { title: text }), 'Renamed.', () => {
              talk.value = { ...talk.value, title: text };
            });
          },
        },
        input({ class: 'in', 'aria-label': 'Title', required: true, value: text, onInput: (event) => setText(event.currentTarget.value) }),
        button({ class: 'b' }, 'Rename'),
      ),
      h2(null, 'Forget it'),
      p(null, 'What was said is deleted, and what is pending in it is withdrawn. The calls stay in the log.'),
    ],
    actions: button({ class: 'b danger', type: 'button', onClick: () => done(send('DELETE', `/conversations/${id}`), 'Forgotten.', () => go(to(['chat']))) }, 'Forget this conversation'),
  });
}
