// Profiles: what a client is shown. Picking is by rules and by hand, with the tokens counted while one picks.
import { useEffect, useState } from '../vendor/preact.js';
import { a, button, code, div, fieldset, footer, form, h2, header, input, label, legend, li, option, p, section, select, span, strong, tableElement, tbody, td, th, thead, tr, ul, use } from '../dom.js';
import { get, send } from '../api.js';
import { icon } from '../icons.js';
import { catalogue } from '../live.js';
import { dialogBox } from '../parts/dialog.js';
import { head } from '../parts/page.js';
import { loaded, shown, useLoaded } from '../parts/problem.js';
import { chip } from '../parts/state.js';
import { toast } from '../parts/toast.js';
import { go, to } from '../router.js';
import { holds } from '../session.js';
import { name, plain, short, some } from '../text.js';
import { Connect } from './connect.js';

/** @typedef {{ description?: string, tools?: string[], tags?: string[], sources?: string[], servers?: string[], without?: string[], rename?: Record<string, string>, show?: string, requires_approval?: boolean, confirm?: string }} Settings */
/** @typedef {{ tools: { tool: string, as: string, tokens: number }[], tokens: number, collisions?: { as: string, tools: string[] }[] }} Plan */

/** @param {import('../main.js').PageProps} props */
export function Profiles({ path, query }) {
  if (path[0]) return use(ProfilePage, { key: path[0] + (query.get('edit') ?? ''), profile: path[0], editing: query.has('edit') });
  return use(List, {});
}

function List() {
  const list = useLoaded((signal) => get('/profiles', {}, signal), [], [catalogue.value]);
  const [naming, setNaming] = useState(false);
  return div({ class: 'page' },
    head({ title: 'Profiles', right: holds('registry:write') ? button({ class: 'b', type: 'button', onClick: () => setNaming(true) }, icon('plus'), 'New profile') : null }),
    p({ class: 'lead' }, 'A profile is a view of the catalogue with an address of its own: which tools, under which names. Fewer tools cost an agent fewer tokens.'),
    loaded(list, ({ profiles }) => ul({ class: 'tiles' }, profiles.map((/** @type {any} */ one) => li({ key: one.name }, a({ class: 'card tile', href: to(['profiles', one.name]) }, div({ class: 'row' }, strong({ class: 'mono' }, name(one.name)), one.readOnly ? chip('', '', 'read-only') : chip('accent', '', 'made here')), span({ class: 'ink-2' }, plain(one.description)), span({ class: 'note' }, some(one.tools.length, 'tool'), ' · /mcp/', name(one.name))))))),
    naming ? use(Name, { close: () => setNaming(false) }) : null);
}

/** @param {{ close: () => void }} props */
function Name({ close }) {
  const [text, setText] = useState('');
  return dialogBox({ title: 'New profile', close, body: form({ id: 'new-profile', class: 'field', onSubmit: (event) => { event.preventDefault(); close(); go(to(['profiles', text], { edit: '1' })); } }, label({ for: 'profile-name' }, 'Name'), input({ class: 'in mono', id: 'profile-name', required: true, pattern: '[A-Za-z0-9_\\-]{1,64}', autocomplete: 'off', value: text, onInput: (event) => setText(event.currentTarget.value) }), p({ class: 'about' }, '1 to 64 letters, digits, - or _. Its address will be /mcp/NAME.')), actions: [button({ class: 'b', type: 'button', onClick: close }, 'Cancel'), button({ class: 'b primary', form: 'new-profile' }, 'Pick its tools')] });
}

/** @param {{ profile: string, editing: boolean }} props */
function ProfilePage({ profile, editing }) {
  const path = `/profiles/${encodeURIComponent(profile)}`;
  const one = useLoaded(async (signal) => { try { return await get(path, {}, signal); } catch (error) { if (editing && error.status === 404) return { settings: {}, tools: [], tokens: 0, readOnly: false, isNew: true }; throw error; } }, [profile], [catalogue.value]);
  const [removing, setRemoving] = useState(false);
  const found = one.value;
  return div({ class: 'page' },
    p({ class: 'crumb' }, a({ href: to(['profiles']) }, 'Profiles')),
    head({ title: profile, shown: span({ class: 'mono' }, name(profile)), beside: found ? chip('', '', `${some(found.tools.length, 'tool')}, about ${short(found.tokens)} tokens`) : null, right: found && !found.readOnly && !editing && holds('registry:write') ? [a({ class: 'b', href: to(['profiles', profile], { edit: '1' }) }, 'Edit'), button({ class: 'b danger', type: 'button', onClick: () => setRemoving(true) }, 'Remove…')] : null }),
    loaded(one, (shown_) => (editing ? use(Edit, { profile, first: shown_.settings, path }) : div({ class: 'split' },
      section({ class: 'card' }, header(null, h2(null, 'What a client gets'), div({ class: 'right note' }, shown_.readOnly ? 'Read-only here' : 'Kept in profiles.json')), preview(shown_)),
      use(Connect, { profile })))),
    removing ? dialogBox({ title: `Remove ${profile}?`, close: () => setRemoving(false), body: p(null, 'Clients of this profile no longer reach it, and keys confined to it can call nothing.'), actions: [button({ class: 'b', type: 'button', onClick: () => setRemoving(false) }, 'Keep it'), button({ class: 'b danger', type: 'button', onClick: () => send('DELETE', path).then(() => { toast('Removed.'); go(to(['profiles'])); }, (error) => toast(error.message, { tone: 'bad' })) }, 'Remove the profile')] }) : null);
}

/** @param {Plan} plan */
const preview = (plan) => div(null, tableElement({ class: 'table' }, thead(null, tr(null, th({ scope: 'col' }, 'Published as'), th({ scope: 'col' }, 'Tool'), th({ class: 'num', scope: 'col' }, 'Tokens'))),
  tbody(null, plan.tools.map((one) => tr({ key: one.tool }, td({ class: 'mono' }, name(one.as)), td(null, one.as === one.tool ? span({ class: 'note' }, 'the same') : a({ class: 'mono', href: to(['tools', one.tool]) }, name(one.tool))), td({ class: 'num' }, one.tokens))))));

/** @param {{ profile: string, first: Settings, path: string }} props */
function Edit({ profile, first, path }) {
  const [settings, setSettings] = useState(first);
  const [words, setWords] = useState('');
  const [problem, setProblem] = useState(/** @type {any} */ (null));
  const all = useLoaded((signal) => get('/tools', { view: 'brief' }, signal), []);
  const [plan, setPlan] = useState(/** @type {Plan} */ ({ tools: [], tokens: 0, collisions: [] }));
  useEffect(() => {
    const stop = new AbortController();
    send('POST', '/profiles/plan', { settings }, { signal: stop.signal }).then((found) => { setPlan(found); setProblem(null); }, (error) => { if (!stop.signal.aborted) setProblem(error); });
    return () => stop.abort();
  }, [JSON.stringify(settings)]);
  const set = (/** @type {Partial<Settings>} */ change) => setSettings({ ...settings, ...change });
  const flip = (/** @type {string[] | undefined} */ list, /** @type {string} */ one) => (list?.includes(one) ? list.filter((other) => other !== one) : [...(list ?? []), one]);
  /** @type {import('../types.js').Brief[]} */
  const tools = all.value?.tools ?? [];
  const picked = new Map(plan.tools.map((one) => [one.tool, one]));
  const tags = [...new Set(tools.flatMap((tool) => tool.tags))].sort();
  const servers = [...new Set(tools.map((tool) => tool.server).filter((one) => one !== undefined))].sort();
  const pick = (/** @type {string} */ tool) => {
    if (picked.has(tool)) set(settings.tools?.includes(tool) ? { tools: flip(settings.tools, tool) } : { without: flip(settings.without, tool) });
    else set(settings.without?.includes(tool) ? { without: flip(settings.without, tool) } : { tools: flip(settings.tools, tool) });
  };
  const seen = tools.filter((tool) => !words || `${tool.name} ${tool.about}`.toLowerCase().includes(words.toLowerCase()));
  const save = async () => { try { await send('PUT', path, settings); toast('Saved. Clients see it at once.'); go(to(['profiles', profile])); } catch (error) { setProblem(error); } };
  const chips = (/** @type {'tags' | 'sources' | 'servers'} */ key, /** @type {string} */ title, /** @type {string[]} */ values) => (values.length ? fieldset({ class: 'field' }, legend(null, title), div({ class: 'row' }, values.map((one) => button({ key: one, class: 'chip toggle', type: 'button', 'aria-pressed': !!settings[key]?.includes(one), onClick: () => set({ [key]: flip(settings[key], one) }) }, plain(one))))) : null);
  return div({ class: 'split' },
    section({ class: 'card' }, header(null, h2(null, 'Tools'), div({ class: 'right' }, strong(null, `${some(plan.tools.length, 'tool')}, about ${short(plan.tokens)} tokens`), span({ class: 'note' }, 'estimated'))),
      div({ class: 'body' }, problem ? shown(problem) : null,
        plan.collisions?.length ? div({ class: 'problem' }, plan.collisions.map((one) => p({ key: one.as }, strong(null, name(one.as)), ' would stand for ', one.tools.map((tool, at) => [at ? ' and ' : '', code(null, plain(tool))]), '. Give one of them another name.'))) : null,
        input({ class: 'in', type: 'search', 'data-filter': true, 'aria-label': 'Search tools', placeholder: 'Search tools', value: words, onInput: (event) => setWords(event.currentTarget.value) }),
        ul({ class: 'picker', 'data-scrolls': true }, seen.map((tool) => { const on = picked.get(tool.name); return li({ key: tool.name },
          label({ class: 'check' }, input({ type: 'checkbox', checked: !!on, onChange: () => pick(tool.name) }), span({ class: 'mono' }, name(tool.name))),
          on ? input({ class: 'in mono as', 'aria-label': `Published name of ${tool.name}`, placeholder: tool.name, value: settings.rename?.[tool.name] ?? '', onChange: (event) => { const { [tool.name]: _old, ...rest } = settings.rename ?? {}; set({ rename: event.currentTarget.value ? { ...rest, [tool.name]: event.currentTarget.value } : rest }); } }) : span(null, ''),
          span({ class: 'note num' }, on ? on.tokens : '')); })))),
    section({ class: 'card' }, header(null, h2(null, 'Rules')), div({ class: 'body' },
      div({ class: 'field' }, label({ for: 'p-about' }, 'What it is for'), input({ class: 'in', id: 'p-about', value: settings.description ?? '', onInput: (event) => set({ description: event.currentTarget.value || undefined }) })),
      chips('sources', 'Everything from', ['native', 'scripts', 'servers']), chips('servers', 'Everything of these servers', servers), chips('tags', 'Everything with these tags', tags),
      div({ class: 'field' }, label({ for: 'p-show' }, 'A client sees'), select({ class: 'in', id: 'p-show', value: settings.show ?? 'list', onChange: (event) => set({ show: event.currentTarget.value === 'list' ? undefined : event.currentTarget.value }) }, option({ value: 'list' }, 'all the tools in a list'), option({ value: 'search' }, 'search-tools, describe-tool, call-tool: the rest is found'))),
      div({ class: 'field' }, label({ for: 'p-hold' }, 'Destructive tools'), select({ class: 'in', id: 'p-hold', value: settings.requires_approval === false ? 'no' : 'yes', onChange: (event) => set({ requires_approval: event.currentTarget.value === 'no' ? false : undefined }) }, option({ value: 'yes' }, 'wait for a person'), option({ value: 'no' }, 'run at once')))),
    footer(null, button({ class: 'b primary', type: 'button', disabled: !!plan.collisions?.length, onClick: save }, 'Save the profile'), a({ class: 'b', href: to(['profiles', ...(Object.keys(first).length ? [profile] : [])]) }, 'Cancel'))));
}
