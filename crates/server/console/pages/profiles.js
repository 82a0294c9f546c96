// Profiles: what a client is shown; editing one is in profile-edit.js.
import { useState } from '../vendor/preact.js';
import { a, button, div, form, h2, header, input, label, li, p, section, span, strong, tableElement, tbody, td, th, thead, tr, ul, use } from '../dom.js';
import { get, send } from '../api.js';
import { icon } from '../icons.js';
import { catalogue } from '../live.js';
import { dialogBox } from '../parts/dialog.js';
import { head } from '../parts/page.js';
import { loaded, useLoaded } from '../parts/problem.js';
import { chip } from '../parts/state.js';
import { toast } from '../parts/toast.js';
import { go, to } from '../router.js';
import { holds } from '../session.js';
import { name, plain, short, some } from '../text.js';
import { Connect } from './connect.js';
import { Edit } from './profile-edit.js';

/** @typedef {{ description?: string, tools?: string[], tags?: string[], sources?: string[], servers?: string[], without?: string[], rename?: Record<string, string>, show?: string, requires_approval?: boolean, confirm?: string }} Settings */
/** @typedef {{ tools: { tool: string, as: string, tokens: number }[], tokens: number, collisions?: { as: string, tools: string[] }[] }} Plan */

/** @param {import('../main.js').PageProps} props */
export function Profiles({ path, query }) {
  if (path[0]) return use(ProfilePage, { key: path[0] + (query.get('edit') ?? ''), profile: path[0], edit: query.get('edit') });
  return use(List, {});
}

function List() {
  const list = useLoaded((signal) => get('/profiles', {}, signal), [], [catalogue.value]);
  const [naming, setNaming] = useState(false);
  return div(
    { class: 'page' },
    head({ title: 'Profiles', right: holds('registry:write') ? button({ class: 'b', type: 'button', onClick: () => setNaming(true) }, icon('plus'), 'New profile') : null }),
    p({ class: 'lead' }, 'A profile is a view of the catalogue with an address of its own: which tools, under which names. Fewer tools cost an agent fewer tokens.'),
    loaded(list, ({ profiles }) =>
      ul(
        { class: 'tiles' },
        profiles.map((/** @type {any} */ one) =>
          li(
            { key: one.name },
            a(
              { class: 'card tile', href: to(['profiles', one.name]) },
              div({ class: 'row' }, strong({ class: 'mono' }, name(one.name)), one.readOnly ? chip('', '', 'read-only') : chip('accent', '', 'made here')),
              span({ class: 'ink-2' }, plain(one.description)),
              span({ class: 'note' }, some(one.tools.length, 'tool'), ' · /mcp/', name(one.name)),
            ),
          ),
        ),
      ),
    ),
    naming ? use(Name, { close: () => setNaming(false), taken: list.value?.profiles.map((/** @type {any} */ one) => one.name) ?? [] }) : null,
  );
}

/** @param {{ close: () => void, taken: string[] }} props */
function Name({ close, taken }) {
  const [text, setText] = useState('');
  const isTaken = taken.includes(text);
  return dialogBox({
    title: 'New profile',
    close,
    body: form(
      {
        id: 'new-profile',
        class: 'field',
        onSubmit: (event) => {
          event.preventDefault();
          if (isTaken) return;
          close();
          go(to(['profiles', text], { edit: 'new' }));
        },
      },
      label({ for: 'profile-name' }, 'Name'),
      input({ class: 'in mono', id: 'profile-name', required: true, pattern: '[A-Za-z0-9_\\-]{1,64}', autocomplete: 'off', 'aria-invalid': isTaken, 'aria-describedby': 'profile-name-about', value: text, onInput: (event) => setText(event.currentTarget.value) }),
      isTaken ? p({ class: 'wrong', role: 'alert' }, 'There is a profile of that name. ', a({ href: to(['profiles', text]) }, 'Open it')) : null,
      p({ class: 'about', id: 'profile-name-about' }, '1 to 64 letters, digits, - or _. Its address will be /mcp/NAME.'),
    ),
    actions: [button({ class: 'b', type: 'button', onClick: close }, 'Cancel'), button({ class: 'b primary', form: 'new-profile', disabled: isTaken }, 'Pick its tools')],
  });
}

/** @param {{ profile: string, edit: string | null }} props */
function ProfilePage({ profile, edit }) {
  const path = `/profiles/${encodeURIComponent(profile)}`;
  const editing = edit !== null;
  const one = useLoaded(async (signal) => (edit === 'new' ? { settings: {}, tools: [], tokens: 0, readOnly: false } : get(path, {}, signal)), [profile], [catalogue.value]);
  const [removing, setRemoving] = useState(false);
  const found = one.value;
  return div(
    { class: 'page' },
    p({ class: 'crumb' }, a({ href: to(['profiles']) }, 'Profiles')),
    head({
      title: profile,
      shown: span({ class: 'mono' }, name(profile)),
      beside: found && !editing ? chip('', '', `${some(found.tools.length, 'tool')}, about ${short(found.tokens)} tokens`) : null,
      right:
        found && !found.readOnly && !editing && holds('registry:write')
          ? [a({ class: 'b', href: to(['profiles', profile], { edit: '1' }) }, 'Edit'), button({ class: 'b danger', type: 'button', onClick: () => setRemoving(true) }, 'Remove…')]
          : null,
    }),
    loaded(one, (shown_) =>
      editing
        ? use(Edit, { profile, first: shown_.settings, path })
        : div(
            { class: 'split' },
            section({ class: 'card' }, header(null, h2(null, 'What a client gets'), div({ class: 'right note' }, shown_.readOnly ? 'Read-only here' : 'Kept in profiles.json')), preview(shown_)),
            use(Connect, { profile }),
          ),
    ),
    removing
      ? dialogBox({
          title: `Remove ${profile}?`,
          close: () => setRemoving(false),
          body: p(null, 'Clients of this profile no longer reach it, and keys confined to it can call nothing.'),
          actions: [
            button({ class: 'b', type: 'button', onClick: () => setRemoving(false) }, 'Keep it'),
            button(
              {
                class: 'b danger',
                type: 'button',
                onClick: () =>
                  send('DELETE', path).then(
                    () => {
                      toast('Removed.');
                      go(to(['profiles']));
                    },
                    (error) => toast(error.message, { tone: 'bad' }),
                  ),
              },
              'Remove the profile',
            ),
          ],
        })
      : null,
  );
}

/** @param {Plan} plan */
const preview = (plan) =>
  div(
    null,
    tableElement(
      { class: 'table' },
      thead(null, tr(null, th({ scope: 'col' }, 'Published as'), th({ scope: 'col' }, 'Tool'), th({ class: 'num', scope: 'col' }, 'Tokens'))),
      tbody(
        null,
        plan.tools.map((one) =>
          tr(
            { key: one.tool },
            td({ class: 'mono' }, name(one.as)),
            td(null, one.as === one.tool ? span({ class: 'note' }, 'the same') : a({ class: 'mono', href: to(['tools', one.tool]) }, name(one.tool))),
            td({ class: 'num' }, one.tokens),
          ),
        ),
      ),
    ),
  );
