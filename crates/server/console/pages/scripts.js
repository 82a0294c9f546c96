// Scripts: the editor at the left; at the right what saving would mean, before anything is saved.
import { useEffect, useState } from '../vendor/preact.js';
import { a, button, code, dd, details, div, dl, dt, footer, h2, h3, header, label, li, p, section, span, strong, summary, textarea, ul, use } from '../dom.js';
import { exchange, get, Problem, send } from '../api.js';
import { icon } from '../icons.js';
import { catalogue } from '../live.js';
import { copyable } from '../parts/copy.js';
import { editor } from '../parts/editor.js';
import { boxed, valueTree } from '../parts/json.js';
import { sentence } from '../parts/long.js';
import { head } from '../parts/page.js';
import { empty, loaded, shown, useLoaded } from '../parts/problem.js';
import { chip, impactState } from '../parts/state.js';
import { toast } from '../parts/toast.js';
import { go, to } from '../router.js';
import { name, plain, some } from '../text.js';
import { Outcome } from './outcome.js';

const START = `"""
Counts the words of a text. Use it when someone asks how long a text is. Returns the number.

name: count-words-again
category: query
params:
  text (string, required, max 10000): the text
returns:
  words (integer): how many
example: {"text": "two words"} -> {"words": 2}
"""


def run(params, context):
    return {"words": len(params["text"].split())}
`;

/** @typedef {{ entry: any, definition: any, derived: string[], findings: import('../types.js').Finding[], changes: import('../types.js').Change[], refused: boolean, nextName?: string, waysOut?: string, mistakes: import('../parts/editor.js').Mistake[] }} Plan */

/** @param {import('../main.js').PageProps} props */
export function Scripts({ path }) {
  if (path[0] === 'new') return use(Edit, { key: 'new', tool: null, first: { script: START, language: 'python', etag: null, entry: null } });
  if (path[0]) return use(Existing, { key: path[0], tool: path[0] });
  return use(List, {});
}

function List() {
  const all = useLoaded((signal) => get('/tools', { view: 'brief' }, signal), [], [catalogue.value]);
  return div(
    { class: 'page' },
    head({ title: 'Scripts', right: a({ class: 'b primary', href: to(['scripts', 'new']) }, icon('plus'), 'New tool') }),
    p({ class: 'lead' }, 'A script with a header is a tool, with everything the built-in ones have: checked parameters, limits, approval, a row in the log for every call.'),
    section(
      { class: 'card', 'aria-label': 'Scripts' },
      loaded(all, ({ tools }) => {
        const scripts = tools.filter((/** @type {import('../types.js').Brief} */ one) => one.source === 'script');
        return scripts.length
          ? ul(
              null,
              scripts.map((/** @type {import('../types.js').Brief} */ one) =>
                li(
                  { key: one.name },
                  a(
                    { class: 'item tool-row', href: to(['scripts', one.name]) },
                    span({ class: 'names' }, span({ class: 'mono name' }, name(one.name)), span({ class: 'about' }, plain(sentence(one.about)))),
                    span({ class: 'chips' }, one.destructive ? chip('warn', '▲', 'destructive') : null, chip('', '', one.category)),
                  ),
                ),
              ),
            )
          : empty('No scripts yet. Start one here, or from the command line:', copyable('toolroom tools add my_tool.py'));
      }),
    ),
  );
}

/** @param {{ tool: string }} props */
function Existing({ tool }) {
  const one = useLoaded(
    async (signal) => {
      const answer = await exchange('GET', `/tools/${encodeURIComponent(tool)}/script`, { signal });
      if (!answer.ok) throw new Problem(answer.status, answer.value);
      return { ...answer.value, etag: answer.headers.get('etag') };
    },
    [tool],
  );
  return one.value
    ? use(Edit, { tool, first: one.value })
    : div(
        { class: 'page' },
        head({ title: tool, shown: name(tool) }),
        loaded(one, () => null),
      );
}

/** @param {{ tool: string | null, first: { script: string, language: 'python' | 'shell', etag: string | null, entry: any } }} props */
function Edit({ tool, first }) {
  const [script, setScript] = useState(first.script);
  const [planned, setPlanned] = useState(/** @type {{ plan: Plan | null, of: string }} */ ({ plan: null, of: '' }));
  const { plan } = planned;
  const [problem, setProblem] = useState(/** @type {any} */ (null));
  const [typed, setParams] = useState(/** @type {string | null} */ (null));
  // Until something else is written there, the example of the header is tried.
  const params = typed ?? JSON.stringify(plan?.definition?.examples?.[0]?.params ?? {});
  const [answer, setAnswer] = useState(/** @type {any} */ (null));
  const changed = script !== first.script || !tool;
  useEffect(() => {
    const stop = new AbortController();
    const later = setTimeout(
      () =>
        send('POST', '/drafts/plan', { script, ...(first.entry ? { entry: first.entry } : {}), ...(tool ? { replaces: tool } : {}) }, { signal: stop.signal }).then(
          (found) => {
            setPlanned({ plan: found, of: script });
            setProblem(null);
          },
          (error) => {
            if (!stop.signal.aborted) setProblem(error);
          },
        ),
      300,
    );
    return () => {
      clearTimeout(later);
      stop.abort();
    };
  }, [script]);
  const save = async (/** @type {string | undefined} */ as) => {
    if (!plan) return;
    const named = as ?? plan.entry.name;
    try {
      const isNew = !tool || named !== tool;
      await send(
        isNew ? 'POST' : 'PUT',
        isNew ? '/tools' : `/tools/${encodeURIComponent(named)}`,
        { ...plan.entry, name: named, ...(as ? { config: { ...plan.entry.config, script_path: `${named.replaceAll('-', '_')}.py` } } : {}), script },
        isNew || !first.etag ? {} : { headers: { 'If-Match': first.etag } },
      );
      if (as && tool) await send('PUT', `/tools/${encodeURIComponent(tool)}`, { ...first.entry, deprecated: { replacement: as } }).catch((error) => toast(error.message, { tone: 'bad' }));
      toast(['Saved ', name(named), '.']);
      go(to(['tools', named]));
    } catch (error) {
      setProblem(error);
    }
  };
  const tryDraft = async () => {
    try {
      setAnswer({
        dry: false,
        ...(await exchange('POST', '/drafts/run', {
          text: `{"script":${JSON.stringify(script)},"entry":${JSON.stringify(plan?.entry ?? first.entry)},"params":${JSON.stringify(JSON.parse(params))}}`,
        })),
      });
      setProblem(null);
    } catch (error) {
      setProblem(error instanceof SyntaxError ? new Error(`the parameters are not JSON: ${error.message}`) : error);
    }
  };
  const bad = plan?.findings.filter((one) => !['pass', 'guaranteed'].includes(one.outcome)) ?? [];
  // What was planned for an earlier text must not be saved with this one.
  const stale = planned.of !== script;
  const blocked = stale || !plan || plan.mistakes.length > 0 || plan.refused;
  return div(
    { class: 'page' },
    p({ class: 'crumb' }, a({ href: to(['scripts']) }, 'Scripts')),
    head({ title: tool ?? 'New tool', shown: tool ? span({ class: 'mono' }, name(tool)) : 'New tool', right: tool ? a({ class: 'b', href: to(['tools', tool]) }, 'Open the tool') : null }),
    div(
      { class: 'split even' },
      section({ class: 'card code-card', 'aria-label': 'Script' }, editor({ value: script, language: first.language, change: setScript, mistakes: plan?.mistakes ?? [], label: 'Script' })),
      div(
        { class: 'stack' },
        section(
          { class: 'card', 'aria-live': 'polite' },
          header(
            null,
            h2(null, 'What saving would mean'),
            div(
              { class: 'right' },
              !plan ? null : plan.mistakes.length ? chip('bad', '✕', some(plan.mistakes.length, 'mistake')) : plan.refused ? chip('bad', '✕', 'refused') : chip('ok', '●', 'can be saved'),
            ),
          ),
          div({ class: 'body' }, problem ? shown(problem) : null, plan ? meaning(plan, bad) : p({ class: 'note late' }, 'Reading the header…')),
          footer(
            null,
            plan?.refused
              ? [
                  button({ class: 'b primary', type: 'button', disabled: stale, onClick: () => save(plan.nextName) }, `Save as ${plan.nextName}, deprecate ${tool}`),
                  button({ class: 'b', type: 'button', onClick: () => setScript(first.script) }, 'Go back'),
                ]
              : [
                  button({ class: 'b primary', type: 'button', disabled: blocked || !changed, onClick: () => save(undefined) }, tool ? 'Save the change' : 'Register the tool'),
                  tool && changed ? button({ class: 'b', type: 'button', onClick: () => setScript(first.script) }, 'Go back') : null,
                ],
            span({ class: 'note' }, 'Nothing is saved before you press this.'),
          ),
        ),
        section(
          { class: 'card' },
          header(null, h2(null, 'Try with these parameters')),
          div(
            { class: 'body' },
            label({ class: 'sr', for: 'draft-params' }, 'Parameters as JSON'),
            textarea({ class: 'in mono', id: 'draft-params', rows: 3, spellcheck: false, value: params, onInput: (event) => setParams(event.currentTarget.value) }),
          ),
          footer(
            null,
            button({ class: 'b', type: 'button', disabled: stale || !plan || plan.mistakes.length > 0, onClick: tryDraft }, 'Run the draft'),
            span({ class: 'note' }, 'Runs without being registered; logged as a draft.'),
          ),
        ),
        answer ? use(Outcome, { key: answer.text, answer, approve: async () => {} }) : null,
      ),
    ),
  );
}

/** @param {Plan} plan @param {import('../types.js').Finding[]} bad */
function meaning(plan, bad) {
  return [
    plan.mistakes.length
      ? ul(
          { class: 'findings bad-ink' },
          plan.mistakes.map((one, at) => li({ key: at }, strong(null, `Line ${one.line}: `), plain(one.message), '. ', one.hint ? plain(one.hint) : null)),
        )
      : null,
    plan.changes.length
      ? div(
          { class: 'stack tight' },
          h3(null, 'Changes for callers'),
          ul(
            { class: 'changes' },
            plan.changes.map((one, at) => li({ key: at }, impactState(one.impact), span({ class: 'mono' }, plain(one.pointer)), span(null, plain(one.message)))),
          ),
        )
      : null,
    plan.waysOut ? p({ class: 'bad-ink' }, plain(plan.waysOut)) : null,
    plan.definition?.name
      ? dl(
          { class: 'kv' },
          dt(null, 'Name'),
          dd({ class: 'mono' }, name(plan.definition.name)),
          dt(null, 'Kind'),
          dd(null, plain(plan.definition.category), ', version ', plain(plan.definition.version)),
          dt(null, 'Needs'),
          dd({ class: 'mono' }, plain((plan.definition.permissions ?? []).join(', '))),
          dt(null, 'Parameters'),
          dd(
            null,
            Object.entries(plan.definition.parameters?.properties ?? {}).map(([key, one]) => [
              code(null, plain(key)),
              span({ class: 'note' }, ` ${/** @type {any} */ (one).type}${plan.definition.parameters.required?.includes(key) ? ', required' : ''} `),
            ]),
          ),
        )
      : null,
    plan.derived.length
      ? div(
          { class: 'stack tight' },
          h3(null, 'Filled in on the safe side'),
          div(
            { class: 'row' },
            plan.derived.map((one) => span({ key: one, class: 'chip mono' }, plain(one))),
          ),
        )
      : null,
    div(
      { class: 'stack tight' },
      h3(null, 'Checklist'),
      bad.length
        ? ul(
            { class: 'findings' },
            bad.map((one) => li({ key: one.line }, '▲ ', plain(one.line), one.detail ? [': ', plain(one.detail)] : null)),
          )
        : plan.findings.length
          ? p({ class: 'ok-ink' }, `● All ${plan.findings.length} lines pass.`)
          : p({ class: 'note' }, 'Checked once the script can be read.'),
    ),
    details(null, summary({ class: 'note' }, 'The definition as read'), boxed(valueTree(plan.definition), 'Definition')),
  ];
}
