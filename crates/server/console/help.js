// The table of keys.
import { kbd, p, tableElement, tbody, td, tr } from './dom.js';
import { wanted } from './later.js';
import { dialogBox } from './parts/dialog.js';

const KEYS = [
  [['Ctrl', 'K'], 'Palette: go to a page, tool, server or call; run a command'],
  [['g', 'then', 'o c a e t s p k'], 'Overview, Chat, Approvals, Executions, Tools, Servers, Profiles, Keys'],
  [['/'], 'Into the filter'],
  [['j', 'k', 'Enter', 'Esc'], 'Down, up, open, close'],
  [['f'], 'Follow the log, or stop'],
  [['a', 'd'], 'Go to Approve or Deny; Enter does it'],
  [['Ctrl', 'Enter'], 'Dry run; with Shift: call'],
  [['1', '2', '3', '4'], 'Rate a card, after Space has shown its answer'],
  [['?'], 'This table'],
];

export const Help = () =>
  wanted.help.value
    ? dialogBox({
        title: 'Keys',
        close: () => {
          wanted.help.value = false;
        },
        body: [
          tableElement(
            { class: 'table keys-table' },
            tbody(
              null,
              KEYS.map(([keys, does]) =>
                tr(
                  null,
                  td(
                    { class: 'tight' },
                    /** @type {string[]} */ (keys).map((key) => (key === 'then' ? ' then ' : [kbd(null, key), ' '])),
                  ),
                  td(null, does),
                ),
              ),
            ),
          ),
          p({ class: 'note' }, 'Single keys work outside of fields. Settings can switch them off.'),
        ],
      })
    : null;
