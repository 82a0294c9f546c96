// Editing a profile: picking by rules and by hand, with the tokens counted while one picks.
import { useEffect, useState } from '../vendor/preact.js';
import { a, button, code, div, fieldset, footer, h2, header, input, label, legend, li, option, p, section, select, span, strong, ul } from '../dom.js';
import { get, send } from '../api.js';
import { loaded, shown, useLoaded } from '../parts/problem.js';
import { toast } from '../parts/toast.js';
import { go, to } from '../router.js';
import { name, plain, short, some } from '../text.js';

/** @typedef {import('./profiles.js').Settings} Settings */
/** @typedef {import('./profiles.js').Plan} Plan */

/** @param {{ profile: string, first: Settings, path: string }} props */
export function Edit({ profile, first, path }) {
  const [settings, setSettings] = useState(first);
  const [words, setWords] = useState('');
  const [problem, setProblem] = useState(/** @type {any} */ (null));
  const all = useLoaded((signal) => get('/tools', { view: 'brief' }, signal), []);
  const [plan, setPlan] = useState(/** @type {Plan} */ ({ tools: [], tokens: 0, collisions: [] }));
  useEffect(() => {
    const stop = new AbortController();
    send('POST', '/drafts/profile', { settings }, { signal: stop.signal }).then(
      (found) => {
        setPlan(found);
        setProblem(null);
      },
      (error) => {
        if (!stop.signal.aborted) setProblem(error);
      },
    );
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
  const save = async () => {
    try {
      await send('PUT', path, settings);
      toast('Saved. Clients see it at once.');
      go(to(['profiles', profile]));
    } catch (error) {
      setProblem(error);
    }
  };
  const chips = (/** @type {'tags' | 'sources' | 'servers'} */ key, /** @type {string} */ title, /** @type {string[]} */ values) =>
    values.length
      ? fieldset(
          { class: 'field' },
          legend(null, title),
          div(
            { class: 'row' },
            values.map((one) =>
              button({ key: one, class: 'chip toggle', type: 'button', 'aria-pressed': !!settings[key]?.includes(one), onClick: () => set({ [key]: flip(settings[key], one) }) }, plain(one)),
            ),
          ),
        )
      : null;
  return div(
    { class: 'split' },
    section(
      { class: 'card' },
      header(null, h2(null, 'Tools'), div({ class: 'right' }, strong(null, `${some(plan.tools.length, 'tool')}, about ${short(plan.tokens)} tokens`), span({ class: 'note' }, 'estimated'))),
      div(
        { class: 'body' },
        problem ? shown(problem) : null,
        plan.collisions?.length
          ? div(
              { class: 'problem' },
              plan.collisions.map((one) =>
                p(
                  { key: one.as },
                  strong(null, name(one.as)),
                  ' would stand for ',
                  one.tools.map((tool, at) => [at ? ' and ' : '', code(null, plain(tool))]),
                  '. Give one of them another name.',
                ),
              ),
            )
          : null,
        input({ class: 'in', type: 'search', 'data-filter': true, 'aria-label': 'Search tools', placeholder: 'Search tools', value: words, onInput: (event) => setWords(event.currentTarget.value) }),
        loaded(all, () =>
          ul(
            { class: 'picker', 'data-scrolls': true },
            seen.map((tool) => {
              const on = picked.get(tool.name);
              return li(
                { key: tool.name },
                label({ class: 'check' }, input({ type: 'checkbox', checked: !!on, onChange: () => pick(tool.name) }), span({ class: 'mono' }, name(tool.name))),
                on
                  ? input({
                      class: 'in mono as',
                      'aria-label': `Published name of ${tool.name}`,
                      placeholder: tool.name,
                      value: settings.rename?.[tool.name] ?? '',
                      onChange: (event) => {
                        const { [tool.name]: _old, ...rest } = settings.rename ?? {};
                        set({ rename: event.currentTarget.value ? { ...rest, [tool.name]: event.currentTarget.value } : rest });
                      },
                    })
                  : span(null, ''),
                span({ class: 'note num' }, on ? on.tokens : ''),
              );
            }),
          ),
        ),
      ),
    ),
    section(
      { class: 'card' },
      header(null, h2(null, 'Rules')),
      div(
        { class: 'body' },
        div(
          { class: 'field' },
          label({ for: 'p-about' }, 'What it is for'),
          input({ class: 'in', id: 'p-about', value: settings.description ?? '', onInput: (event) => set({ description: event.currentTarget.value || undefined }) }),
        ),
        chips('sources', 'Everything from', ['native', 'scripts', 'servers']),
        chips('servers', 'Everything of these servers', servers),
        chips('tags', 'Everything with these tags', tags),
        div(
          { class: 'field' },
          label({ for: 'p-show' }, 'A client sees'),
          select(
            { class: 'in', id: 'p-show', value: settings.show ?? 'list', onChange: (event) => set({ show: event.currentTarget.value === 'list' ? undefined : event.currentTarget.value }) },
            option({ value: 'list' }, 'all the tools in a list'),
            option({ value: 'search' }, 'search-tools, describe-tool, call-tool: the rest is found'),
          ),
        ),
        div(
          { class: 'field' },
          label({ for: 'p-hold' }, 'Destructive tools'),
          select(
            {
              class: 'in',
              id: 'p-hold',
              value: settings.requires_approval === false ? 'no' : 'yes',
              onChange: (event) => set({ requires_approval: event.currentTarget.value === 'no' ? false : undefined }),
            },
            option({ value: 'yes' }, 'wait for a person'),
            option({ value: 'no' }, 'run at once'),
          ),
        ),
      ),
      footer(
        null,
        button({ class: 'b primary', type: 'button', disabled: !!plan.collisions?.length, onClick: save }, 'Save the profile'),
        a({ class: 'b', href: to(['profiles', ...(Object.keys(first).length ? [profile] : [])]) }, 'Cancel'),
      ),
    ),
  );
}
