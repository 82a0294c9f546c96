// A field for a filter line, with completions for the word at its end.
import { useState } from '../vendor/preact.js';
import { div, input, li, span, ul, use } from '../dom.js';
import { completions } from '../filter.js';
import { icon } from '../icons.js';
import { plain } from '../text.js';

/** @param {{ value: string, set: (value: string) => void, known: Record<string, string[]>, placeholder: string }} props */
function FilterBox({ value, set, known, placeholder }) {
  const [text, setText] = useState(value);
  const [from, setFrom] = useState(value);
  const [at, setAt] = useState(-1);
  const [open, setOpen] = useState(false);
  if (from !== value) {
    setFrom(value);
    setText(value);
  }
  const word = /\S*$/.exec(text)?.[0] ?? '';
  const items = open ? completions(word, known) : [];
  const commit = (/** @type {string} */ line) => {
    setOpen(false);
    setAt(-1);
    set(line.trim());
  };
  const take = (/** @type {string} */ choice) => {
    const line = text.slice(0, text.length - word.length) + choice;
    setText(line);
    setAt(-1);
    if (!choice.endsWith(':')) commit(line);
  };
  const keys = (/** @type {KeyboardEvent} */ event) => {
    const move = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (move && items.length) {
      event.preventDefault();
      setAt((at + move + items.length) % items.length);
    }
    if (event.key === 'Enter') {
      event.preventDefault();
      if (items[at]) take(items[at].text);
      else commit(text);
    }
    if (event.key === 'Escape') {
      event.stopPropagation();
      if (open && items.length) setOpen(false);
      else if (event.currentTarget instanceof HTMLElement) event.currentTarget.blur();
    }
    if (event.key === 'Tab' && at >= 0 && items[at]) {
      event.preventDefault();
      take(items[at].text);
    }
  };
  return div(
    { class: 'search filter', role: 'search' },
    icon('search'),
    input({
      class: 'in mono',
      'data-filter': true,
      role: 'combobox',
      'aria-label': 'Filter',
      'aria-expanded': items.length > 0,
      'aria-controls': 'filter-words',
      'aria-autocomplete': 'list',
      'aria-activedescendant': at >= 0 ? `filter-${at}` : undefined,
      placeholder,
      spellcheck: false,
      autocomplete: 'off',
      value: text,
      onInput: (event) => {
        setText(event.currentTarget.value);
        setOpen(true);
        setAt(-1);
        if (!event.currentTarget.value) commit('');
      },
      onFocus: () => setOpen(true),
      onBlur: () => {
        setOpen(false);
        if (text.trim() !== value) commit(text);
      },
      onKeyDown: keys,
    }),
    ul(
      { id: 'filter-words', role: 'listbox', 'aria-label': 'Completions', hidden: !items.length },
      items.map((item, index) =>
        li(
          {
            key: item.text,
            id: `filter-${index}`,
            role: 'option',
            'aria-selected': index === at,
            onMouseDown: (event) => {
              event.preventDefault();
              take(item.text);
            },
          },
          span({ class: 'mono' }, plain(item.text)),
          span({ class: 'note' }, item.about),
        ),
      ),
    ),
  );
}

/** @param {Parameters<typeof FilterBox>[0]} props */
export const filterBox = (props) => use(FilterBox, props);
