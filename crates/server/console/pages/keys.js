// Keys: whose they are and what they may do; a new one's secret is shown once and forgotten with the page.
import { useMemo, useState } from '../vendor/preact.js';
import { button, code, div, fieldset, form, input, label, legend, li, p, section, span, strong, tableElement, tbody, td, th, thead, tr, ul, use } from '../dom.js';
import { get, send } from '../api.js';
import { icon } from '../icons.js';
import { copyable } from '../parts/copy.js';
import { dialogBox } from '../parts/dialog.js';
import { head } from '../parts/page.js';
import { empty, loaded, shown, useLoaded } from '../parts/problem.js';
import { chip } from '../parts/state.js';
import { toast } from '../parts/toast.js';
import { go, to } from '../router.js';
import { name, plain, some } from '../text.js';
import { day, when } from '../time.js';

/** @typedef {{ id: number, user: string, prefix: string, grants: string[], profiles: string[] | null, person: boolean, note?: string | null, created_at: string, revoked_at?: string | null, last_used_at?: string | null, expires_at?: string | null }} Key */

/** @param {import('../main.js').PageProps} props */
export function Keys({ query }) {
  const keys = useLoaded((signal) => /** @type {Promise<{ keys: Key[] }>} */ (get('/keys', {}, signal)), []);
  const [revoking, setRevoking] = useState(/** @type {Key | null} */ (null));
  const [all, setAll] = useState(false);
  const revoke = async (/** @type {Key} */ key) => {
    try {
      await send('DELETE', `/keys/${key.id}`);
      toast('Revoked. What went on by it has ended.');
      setRevoking(null);
      keys.reload();
    } catch (error) {
      toast(error.message, { tone: 'bad' });
    }
  };
  return div(
    { class: 'page' },
    head({
      title: 'Keys',
      beside: keys.value ? span({ class: 'note' }, some(keys.value.keys.filter((one) => !one.revoked_at).length, 'active key')) : null,
      right: [
        keys.value?.keys.some((one) => one.revoked_at) ? button({ class: 'b', type: 'button', 'aria-pressed': all, onClick: () => setAll(!all) }, all ? 'Hide revoked' : 'Show revoked') : null,
        button({ class: 'b primary', type: 'button', onClick: () => go(to(['keys'], { new: '1' })) }, icon('plus'), 'New key'),
      ],
    }),
    section(
      { class: 'card', 'aria-label': 'Keys' },
      loaded(keys, ({ keys: list }) => {
        const seen = list.filter((one) => all || !one.revoked_at);
        if (!seen.length)
          return empty(
            'No key yet. Without any, everybody on this machine may use tasks, cards and the tools that you added; the first key ends that.',
            button({ class: 'b', type: 'button', onClick: () => go(to(['keys'], { new: '1' })) }, 'Make the first key'),
          );
        return div(
          { class: 'scroll-x', tabIndex: 0, role: 'region', 'aria-label': 'Table of keys' },
          tableElement(
            { class: 'table big' },
            thead(
              null,
              tr(
                null,
                ['User', 'Key', 'Grants', 'Profiles', 'Last used', 'Ends'].map((text) => th({ key: text, scope: 'col' }, text)),
                th({ class: 'tight' }, span({ class: 'sr' }, 'Revoke')),
              ),
            ),
            tbody(
              null,
              seen.map((one) =>
                tr(
                  { key: one.id, class: one.revoked_at ? 'faded' : '' },
                  td(null, strong(null, name(one.user)), one.person ? [' ', chip('accent', '', 'person')] : null, one.note ? p({ class: 'note' }, plain(one.note)) : null),
                  td({ class: 'tight' }, code(null, plain(one.prefix), '…')),
                  td(
                    null,
                    div(
                      { class: 'row grants' },
                      one.grants.length ? one.grants.map((grant) => span({ key: grant, class: `chip mono ${grant === '*' ? 'warn' : ''}` }, plain(grant === '*' ? '* everything' : grant))) : 'none',
                    ),
                  ),
                  td(null, one.profiles ? one.profiles.map((profile) => [name(profile), ' ']) : span({ class: 'note' }, 'all')),
                  td({ class: 'tight' }, one.last_used_at ? when(one.last_used_at) : span({ class: 'note' }, 'never')),
                  td({ class: 'tight' }, one.revoked_at ? chip('', '◌', 'revoked') : one.expires_at ? day(one.expires_at) : span({ class: 'note' }, 'never')),
                  td(
                    { class: 'tight' },
                    one.revoked_at ? null : button({ class: 'b small danger', type: 'button', 'aria-label': `Revoke the key ${one.prefix} of ${one.user}`, onClick: () => setRevoking(one) }, 'Revoke'),
                  ),
                ),
              ),
            ),
          ),
        );
      }),
    ),
    revoking
      ? dialogBox({
          title: 'Revoke this key?',
          close: () => setRevoking(null),
          body: p(
            null,
            'The key ',
            code(null, plain(revoking.prefix), '…'),
            ' of ',
            strong(null, name(revoking.user)),
            ' stops working at once. Its streams, waiting calls and sessions end. This cannot be undone.',
          ),
          actions: [
            button({ class: 'b', type: 'button', onClick: () => setRevoking(null) }, 'Keep it'),
            button({ class: 'b danger', type: 'button', onClick: () => revoke(revoking) }, 'Revoke the key'),
          ],
        })
      : null,
    query.has('new')
      ? use(NewKey, {
          close: () => {
            go(to(['keys']), { replace: true });
            keys.reload();
          },
        })
      : null,
  );
}

const ADMIN = /** @type {[string, string][]} */ ([
  ['registry:write', 'register and change tools and profiles'],
  ['servers:write', 'add, change and approve servers'],
  ['approvals:decide', 'decide others’ approvals (persons only)'],
  ['executions:read', 'read everybody’s log'],
]);

/** @param {{ close: () => void }} props */
function NewKey({ close }) {
  const tools = useLoaded((signal) => get('/tools', {}, signal), []);
  const profiles = useLoaded((signal) => get('/profiles', {}, signal), []);
  const [user, setUser] = useState('');
  const [note, setNote] = useState('');
  const [ends, setEnds] = useState('');
  const [person, setPerson] = useState(false);
  const [grants, setGrants] = useState(new Set(['tasks:*', 'cards:*', 'web:search', 'humans:ask']));
  const [only, setOnly] = useState(/** @type {Set<string>} */ (new Set()));
  const [made, setMade] = useState(/** @type {any} */ (null));
  const [problem, setProblem] = useState(/** @type {any} */ (null));
  /** @type {import('../types.js').Definition[]} */
  const list = tools.value?.tools ?? [];
  const offered = useMemo(() => {
    /** @type {Map<string, string[]>} */
    const by = new Map();
    for (const tool of list)
      for (const permission of tool.permissions) {
        const key = /^(tasks|cards):/.test(permission) ? `${permission.split(':')[0]}:*` : permission;
        by.set(key, [...(by.get(key) ?? []), tool.name]);
      }
    return [...by].sort(([x], [y]) => x.localeCompare(y));
  }, [tools.value]);
  const covers = (/** @type {string} */ need) => [...grants].some((grant) => grant === '*' || grant === need || (grant.endsWith(':*') && need.startsWith(grant.slice(0, -1))));
  const callable = list.filter((tool) => tool.permissions.every(covers));
  const toggle = (/** @type {Set<string>} */ set, /** @type {(set: Set<string>) => void} */ put, /** @type {string} */ one) => {
    const next = new Set(set);
    if (!next.delete(one)) next.add(one);
    put(next);
  };
  const submit = async (/** @type {Event} */ event) => {
    event.preventDefault();
    try {
      setMade(
        await send('POST', '/keys', {
          user: user.trim(),
          grants: grants.size ? [...grants] : ['none'],
          ...(only.size ? { profiles: [...only] } : {}),
          person,
          ...(note ? { note } : {}),
          ...(ends ? { expires_at: new Date(`${ends}T23:59:59`).toISOString() } : {}),
        }),
      );
      setProblem(null);
    } catch (error) {
      setProblem(error);
    }
  };
  const box = (/** @type {Set<string>} */ set, /** @type {(set: Set<string>) => void} */ put, /** @type {string} */ key, /** @type {any} */ about) =>
    label({ key, class: 'check' }, input({ type: 'checkbox', checked: set.has(key), onChange: () => toggle(set, put, key) }), span(null, code(null, plain(key)), ' ', span({ class: 'note' }, about)));
  if (made)
    return dialogBox({
      title: 'The key is made',
      close,
      body: [
        p(null, 'This is the only time that it is shown. Put it where the agent reads it:'),
        copyable(made.key, 'Copy the key'),
        p({ class: 'note' }, 'As a header: '),
        copyable(`X-API-Key: ${made.key}`, 'Copy the header'),
      ],
      actions: button({ class: 'b primary', type: 'button', onClick: close }, 'I have it'),
    });
  return dialogBox({
    title: 'New key',
    close,
    wide: true,
    body: form(
      { id: 'new-key', class: 'stack', onSubmit: submit },
      problem ? shown(problem) : null,
      div(
        { class: 'two' },
        div(
          { class: 'field' },
          label({ for: 'key-user' }, 'User'),
          input({ class: 'in', id: 'key-user', required: true, autocomplete: 'off', value: user, onInput: (event) => setUser(event.currentTarget.value) }),
          p({ class: 'about' }, 'Made if there is none of that name.'),
        ),
        div(
          { class: 'field' },
          label({ for: 'key-note' }, 'Note'),
          input({ class: 'in', id: 'key-note', maxLength: 200, autocomplete: 'off', value: note, onInput: (event) => setNote(event.currentTarget.value) }),
          p({ class: 'about' }, 'What it is for.'),
        ),
        div(
          { class: 'field' },
          label({ for: 'key-ends' }, 'Ends'),
          input({ class: 'in', id: 'key-ends', type: 'date', value: ends, onInput: (event) => setEnds(event.currentTarget.value) }),
          p({ class: 'about' }, 'Empty: never.'),
        ),
        label(
          { class: 'check' },
          input({ type: 'checkbox', checked: person, onChange: () => setPerson(!person) }),
          span(null, 'A person’s key', span({ class: 'note' }, ' may decide approvals and log in here. Never give it to an agent.')),
        ),
      ),
      fieldset(
        { class: 'field' },
        legend(null, 'Grants'),
        div(
          { class: 'group picks' },
          box(grants, setGrants, '*', 'everything, also what comes later'),
          offered.map(([key, names]) => box(grants, setGrants, key, [`${some(names.length, 'tool')}: `, plain(names.slice(0, 3).join(', ')), names.length > 3 ? '…' : ''])),
          ADMIN.map(([key, about]) => box(grants, setGrants, key, about)),
        ),
      ),
      fieldset(
        { class: 'field' },
        legend(null, 'Only under these profiles'),
        div(
          { class: 'group picks' },
          (profiles.value?.profiles ?? []).map((/** @type {any} */ one) => box(only, setOnly, one.name, plain(one.description))),
        ),
        p({ class: 'about' }, 'None picked: all profiles.'),
      ),
      div(
        { class: 'banner' },
        strong(null, `This key can call ${some(callable.length, 'tool')}`),
        ul(
          { class: 'row' },
          callable.slice(0, 12).map((tool) => li({ key: tool.name, class: 'chip mono' }, name(tool.name))),
          callable.length > 12 ? li({ class: 'note' }, `and ${callable.length - 12} more`) : null,
        ),
      ),
    ),
    actions: [button({ class: 'b', type: 'button', onClick: close }, 'Cancel'), button({ class: 'b primary', form: 'new-key' }, 'Make the key')],
  });
}
