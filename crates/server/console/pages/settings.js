// Settings: the doctor, the settings in force and where each comes from, sessions, this browser, about.
import { useState } from '../vendor/preact.js';
import { a, button, code, dd, div, dl, dt, form, h2, header, input, label, p, section, span, strong, tableElement, tbody, td, tr, use } from '../dom.js';
import { get, send } from '../api.js';
import { head } from '../parts/page.js';
import { loaded, shown, useLoaded } from '../parts/problem.js';
import { chip } from '../parts/state.js';
import { toast } from '../parts/toast.js';
import { logOut, session } from '../session.js';
import { density, singleKeys, theme } from '../settings.js';
import { plain } from '../text.js';
import { when } from '../time.js';

export function Settings() {
  return div(
    { class: 'page' },
    head({ title: 'Settings', right: [a({ class: 'b quiet', href: '/docs' }, 'The API'), button({ class: 'b', type: 'button', onClick: logOut }, 'Log out')] }),
    div(
      { class: 'split' },
      div({ class: 'stack' }, session.value?.owner ? use(Doctor, {}) : null, use(InForce, {})),
      div({ class: 'stack' }, use(Browser, {}), use(Zone, {}), use(Sessions, {}), use(About, {})),
    ),
  );
}

/** @param {string} title @param {{ value: string }} setting @param {[string, string][]} choices */
const choice = (title, setting, choices) =>
  div(
    { class: 'setting' },
    span(null, title),
    div(
      { class: 'segments', role: 'group', 'aria-label': title },
      choices.map(([key, text]) =>
        button(
          {
            key,
            type: 'button',
            'aria-pressed': setting.value === key,
            onClick: () => {
              setting.value = key;
            },
          },
          text,
        ),
      ),
    ),
  );

const Browser = () =>
  section(
    { class: 'card' },
    header(null, h2(null, 'This browser')),
    div(
      { class: 'body' },
      choice('Theme', theme, [
        ['system', 'System'],
        ['light', 'Light'],
        ['dark', 'Dark'],
      ]),
      choice('Density', density, [
        ['dense', 'Dense'],
        ['roomy', 'Roomy'],
      ]),
      choice('Single keys', singleKeys, [
        ['on', 'On'],
        ['off', 'Off'],
      ]),
    ),
  );

function Zone() {
  const me = useLoaded((signal) => get('/me', {}, signal), []);
  const [zone, setZone] = useState(/** @type {string | null} */ (null));
  const [problem, setProblem] = useState(/** @type {any} */ (null));
  const here = Intl.DateTimeFormat().resolvedOptions().timeZone;
  const save = async (/** @type {string | null} */ timezone) => {
    try {
      me.set(await send('PUT', '/me', { timezone }));
      setZone(null);
      setProblem(null);
      toast('Saved.');
    } catch (error) {
      setProblem(error);
    }
  };
  return section(
    { class: 'card' },
    header(null, h2(null, 'Time zone')),
    loaded(me, (found) =>
      div(
        { class: 'body' },
        problem ? shown(problem) : null,
        form(
          {
            class: 'field',
            onSubmit: (event) => {
              event.preventDefault();
              save((zone ?? found.timezone ?? '') || null);
            },
          },
          label({ for: 'zone' }, 'For dates in words'),
          div(
            { class: 'row nowrap' },
            input({ class: 'in', id: 'zone', placeholder: 'the server’s', value: zone ?? found.timezone ?? '', onInput: (event) => setZone(event.currentTarget.value) }),
            button({ class: 'b' }, 'Save'),
          ),
          found.timezone === here ? null : p({ class: 'about' }, 'This browser is in ', button({ class: 'linkish', type: 'button', onClick: () => save(here) }, here), '.'),
        ),
      ),
    ),
  );
}

function Doctor() {
  const report = useLoaded((signal) => get('/doctor', {}, signal), []);
  const tone = /** @type {Record<string, [import('../parts/state.js').Tone, string]>} */ ({ ok: ['ok', '●'], warn: ['warn', '▲'], fail: ['bad', '✕'], error: ['bad', '✕'] });
  return section(
    { class: 'card', id: 'doctor' },
    header(
      null,
      h2(null, 'Doctor'),
      report.value ? (report.value.healthy ? chip('ok', '●', 'healthy') : chip('bad', '✕', 'needs attention')) : null,
      div({ class: 'right' }, button({ class: 'b small', type: 'button', onClick: report.reload }, 'Look again')),
    ),
    loaded(report, ({ checks }) =>
      tableElement(
        { class: 'table' },
        tbody(
          null,
          checks.map((/** @type {any} */ one) =>
            tr(
              { key: one.check },
              td({ class: 'tight' }, chip(tone[one.status]?.[0] ?? '', tone[one.status]?.[1] ?? '', one.status)),
              td(null, strong(null, plain(one.check)), ' ', span({ class: 'ink-2' }, plain(one.detail)), one.remedy ? p({ class: 'note' }, plain(one.remedy)) : null),
            ),
          ),
        ),
      ),
    ),
  );
}

function InForce() {
  const all = useLoaded((signal) => get('/settings', {}, signal), []);
  if (all.error?.status === 403) return null;
  return section(
    { class: 'card' },
    header(null, h2(null, 'Settings in force'), div({ class: 'right note' }, 'Changed in toolroom.toml')),
    loaded(all, ({ settings }) =>
      tableElement(
        { class: 'table' },
        tbody(
          null,
          settings.map((/** @type {any} */ one) =>
            tr(
              { key: one.name },
              td({ class: 'mono' }, plain(one.name)),
              td({ class: 'mono' }, plain(typeof one.value === 'string' ? one.value : JSON.stringify(one.value))),
              td({ class: 'tight' }, chip(one.from === 'default' ? '' : 'accent', '', one.from)),
            ),
          ),
        ),
      ),
    ),
  );
}

function Sessions() {
  const all = useLoaded((signal) => get('/sessions', {}, signal), []);
  return section(
    { class: 'card' },
    header(null, h2(null, 'Sessions')),
    loaded(all, ({ sessions }) =>
      tableElement(
        { class: 'table' },
        tbody(
          null,
          sessions.map((/** @type {any} */ one) =>
            tr(
              { key: one.id },
              td(null, plain(browserOf(one.agent)), p({ class: 'note' }, plain(one.address), ', seen ', when(one.seen_at))),
              td(
                { class: 'tight' },
                one.current
                  ? chip('ok', '●', 'this one')
                  : button(
                      {
                        class: 'b small danger',
                        type: 'button',
                        onClick: () =>
                          send('DELETE', `/sessions/${one.id}`).then(
                            () => {
                              toast('Ended.');
                              all.reload();
                            },
                            (error) => toast(error.message, { tone: 'bad' }),
                          ),
                      },
                      'End',
                    ),
              ),
            ),
          ),
        ),
      ),
    ),
  );
}

/** @param {string} agent */
const browserOf = (agent) => {
  const [, known] = /(Firefox|Edg|Chrome|Safari)\/[\d.]+/.exec(agent ?? '') ?? [];
  return `${known === 'Edg' ? 'Edge' : (known ?? 'A browser')}${/Windows/.test(agent) ? ' on Windows' : /Mac OS/.test(agent) ? ' on macOS' : /Android/.test(agent) ? ' on Android' : /Linux/.test(agent) ? ' on Linux' : ''}`;
};

function About() {
  const one = useLoaded((signal) => get('/about', {}, signal), []);
  return section(
    { class: 'card' },
    header(null, h2(null, 'About')),
    loaded(one, (found) =>
      div(
        { class: 'body' },
        dl(
          { class: 'kv' },
          dt(null, 'Version'),
          dd(null, plain(found.version)),
          dt(null, 'Running since'),
          dd(null, when(found.started_at)),
          dt(null, 'Database'),
          dd(null, plain(found.database)),
          dt(null, 'Catalogue'),
          dd(null, `version ${found.catalogueVersion}`),
          found.home ? [dt(null, 'Home'), dd(null, code(null, plain(found.home)))] : null,
        ),
      ),
    ),
  );
}
