// Tasks: a list and a board by time. Everything goes through the task tools, so that it is logged and can be undone.
import { useEffect, useState } from '../vendor/preact.js';
import { button, div, form, h2, header, input, label, li, p, section, span, ul, use } from '../dom.js';
import { send } from '../api.js';
import { callTool, run } from '../calls.js';
import { icon } from '../icons.js';
import { follow } from '../live.js';
import { head } from '../parts/page.js';
import { empty, loaded, shown, useLoaded } from '../parts/problem.js';
import { chip } from '../parts/state.js';
import { toast } from '../parts/toast.js';
import { go, to } from '../router.js';
import { plain, some } from '../text.js';
import { day } from '../time.js';

/** @typedef {{ taskId: number, title: string, description: string | null, priority: string, due: string | null, status: string, tags: string[], version: number }} Task */

const COLUMNS = /** @type {[string, string][]} */ ([
  ['overdue', 'Overdue'],
  ['today', 'Today'],
  ['week', 'This week'],
  ['later', 'Later'],
  ['none', 'No date'],
  ['done', 'Done'],
]);

/** @param {Task} task */
function column(task) {
  if (task.status === 'completed') return 'done';
  if (!task.due) return 'none';
  const at = new Date(task.due.length === 10 ? `${task.due}T23:59:59` : task.due);
  const now = new Date();
  const end = (/** @type {number} */ days) => new Date(now.getFullYear(), now.getMonth(), now.getDate() + days, 23, 59, 59, 999);
  if (at < now && at.toDateString() !== now.toDateString()) return 'overdue';
  if (at < now && task.due.length > 10) return 'overdue';
  if (at <= end(0)) return 'today';
  return at <= end((7 - now.getDay()) % 7) ? 'week' : 'later';
}

/** @param {import('../main.js').PageProps} props */
export function Tasks({ query }) {
  const view = query.get('view') ?? 'board';
  const tasks = useLoaded(async () => {
    /** @type {Task[]} */
    const all = [];
    let cursor;
    do {
      const page = await run('list-tasks', { status: 'all', limit: 100, ...(cursor ? { cursor } : {}) });
      all.push(...page.tasks);
      cursor = page.nextCursor;
    } while (cursor && all.length < 2000);
    return all;
  }, []);
  const [said, setSaid] = useState('');
  useEffect(
    () =>
      follow((rows) => {
        if (rows.some((row) => row.status === 'ok' && /task/.test(row.tool) && !/^(list|find|get)/.test(row.tool))) tasks.reload();
      }),
    [],
  );
  const act = async (/** @type {() => Promise<any>} */ what) => {
    try {
      return await what();
    } catch (error) {
      toast(error.message, { tone: 'bad' });
      return null;
    }
  };
  const complete = (/** @type {Task} */ task) => act(() => run('complete-task', { taskId: task.taskId, completed: task.status !== 'completed' })).then(tasks.reload);
  const remove = (/** @type {Task} */ task) =>
    act(async () => {
      // A person deletes here: the call waits for a person, who is the one that clicked.
      const asked = await callTool('delete-task', JSON.stringify({ taskId: task.taskId }));
      if (asked.status === 202) {
        await send('POST', `/approvals/${asked.value.pending.id}`, { decision: 'approve' });
        const done = await callTool('delete-task', JSON.stringify({ taskId: task.taskId }), { approvalId: asked.value.pending.id });
        if (done.value?.error) throw new Error(done.value.error.message);
      } else if (asked.value?.error) throw new Error(asked.value.error.message);
      tasks.reload();
      toast(['Deleted “', plain(task.title), '”.'], {
        step: {
          label: 'Restore',
          act: () => {
            act(() => run('restore-task', { taskId: task.taskId })).then(tasks.reload);
          },
        },
      });
    });
  const one = (/** @type {Task} */ task) =>
    li(
      { key: task.taskId, class: `task ${task.status === 'completed' ? 'done' : ''}` },
      label({ class: 'check' }, input({ type: 'checkbox', checked: task.status === 'completed', onChange: () => complete(task) }), span({ class: 'what' }, plain(task.title))),
      button({ class: 'b small quiet icon-only', type: 'button', 'aria-label': `Delete ${task.title}`, onClick: () => remove(task) }, icon('close')),
      task.due || task.priority === 'high' || task.tags.length
        ? div(
            { class: 'row meta' },
            task.due ? chip(column(task) === 'overdue' ? 'bad' : '', column(task) === 'overdue' ? '▲' : '', dueWords(task.due)) : null,
            task.priority === 'high' ? chip('warn', '', 'high') : null,
            task.tags.map((tag) => chip('', '', ['#', plain(tag)])),
          )
        : null,
    );
  return div(
    { class: 'page' },
    head({
      title: 'Tasks',
      beside: tasks.value ? span({ class: 'note' }, `${some(tasks.value.filter((task) => task.status !== 'completed').length, 'task')} to do`) : null,
      right: div(
        { class: 'segments', role: 'group', 'aria-label': 'View' },
        ['board', 'list'].map((key) =>
          button(
            { key, type: 'button', 'aria-pressed': key === view, onClick: () => go(to(['tasks'], { view: key === 'board' ? null : key }), { replace: true }) },
            key === 'board' ? 'Board' : 'List',
          ),
        ),
      ),
    }),
    use(QuickAdd, {
      added: (echo) => {
        setSaid(echo);
        tasks.reload();
      },
    }),
    p({ class: 'note ok-ink', role: 'status' }, said),
    tasks.error && !tasks.value
      ? shown(tasks.error, [{ label: 'Try again', act: tasks.reload }])
      : loaded(tasks, (all) => {
          if (!all.length) return section({ class: 'card' }, empty('Nothing to do. Write the first task above; “tomorrow 5pm” and the like are understood.', null, true));
          const columns = COLUMNS.map(([key, title]) => ({ key, title, list: all.filter((task) => column(task) === key).sort((x, y) => (x.due ?? '').localeCompare(y.due ?? '')) })).filter(
            (one_) => one_.list.length || ['today', 'week'].includes(one_.key),
          );
          return div(
            { class: view === 'board' ? 'board' : 'stack' },
            columns.map(({ key, title, list }) =>
              section(
                { key, class: 'card', 'aria-label': title },
                header(null, h2(null, title), span({ class: 'note right' }, list.length)),
                list.length ? ul({ class: 'task-list' }, list.map(one)) : p({ class: 'note nothing' }, 'Nothing.'),
              ),
            ),
          );
        }),
  );
}

/** @param {string} due */
function dueWords(due) {
  return due.length === 10 ? day(`${due}T12:00:00`) : `${day(due)}, ${new Date(due).toLocaleTimeString('en-GB', { hour: '2-digit', minute: '2-digit' })}`;
}

const DATE = /\s+((?:today|tonight|tomorrow|next \w+|in \d+ \w+|(?:on |this )?(?:mon|tues|wednes|thurs|fri|satur|sun)day|\d{4}-\d\d-\d\d)(?:\s+(?:at\s+)?\S+)?)$/i;

/** @param {{ added: (echo: string) => void }} props */
function QuickAdd({ added }) {
  const [text, setText] = useState('');
  const [problem, setProblem] = useState(/** @type {any} */ (null));
  const submit = async (/** @type {Event} */ event) => {
    event.preventDefault();
    const found = DATE.exec(text.trim());
    const title = found ? text.trim().slice(0, found.index) : text.trim();
    try {
      const made = await run('create-task', { title, ...(found ? { due: found[1] } : {}) }).catch((error) => {
        if (!found) throw error;
        return run('create-task', { title: text.trim() });
      });
      setText('');
      setProblem(null);
      added(`Added “${made.task.title}”${made.dueEcho ? `, due ${made.dueEcho}` : ''}.`);
    } catch (error) {
      setProblem(error);
    }
  };
  return form(
    { class: 'stack tight', onSubmit: submit },
    div(
      { class: 'row nowrap' },
      input({
        class: 'in',
        'data-filter': true,
        'aria-label': 'New task',
        placeholder: 'New task, such as: call mom tomorrow 5pm',
        required: true,
        maxLength: 300,
        value: text,
        onInput: (event) => setText(event.currentTarget.value),
      }),
      button({ class: 'b primary' }, 'Add'),
    ),
    problem ? shown(problem) : null,
  );
}
