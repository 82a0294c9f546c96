// Cards: reviewing a deck by keyboard. Space shows the answer, 1 to 4 rate it. Everything goes through the card tools.
import { useLayoutEffect, useState } from '../vendor/preact.js';
import { a, button, div, h2, kbd, li, p, section, span, strong, ul, use } from '../dom.js';
import { run } from '../calls.js';
import { copyable } from '../parts/copy.js';
import { long } from '../parts/long.js';
import { head } from '../parts/page.js';
import { empty, loaded, shown, useLoaded } from '../parts/problem.js';
import { chip } from '../parts/state.js';
import { onKeys } from '../shortcuts.js';
import { to } from '../router.js';
import { name, plain, some } from '../text.js';

const RATINGS = /** @type {[string, string, import('../parts/state.js').Tone][]} */ ([
  ['again', 'Again', 'bad'],
  ['hard', 'Hard', 'warn'],
  ['good', 'Good', 'ok'],
  ['easy', 'Easy', 'accent'],
]);

/** @param {import('../main.js').PageProps} props */
export function Cards({ path }) {
  return path[0] ? use(Review, { key: path[0], deck: Number(path[0]) }) : use(Decks, {});
}

function Decks() {
  const decks = useLoaded(() => run('list-decks', {}), []);
  if (decks.error?.code === 'tool_not_found')
    return div(
      { class: 'page' },
      head({ title: 'Cards' }),
      section({ class: 'card' }, empty('Flash cards are switched off. Write this into toolroom.toml and restart the server:', copyable('[packs]\ncards = true'), true)),
    );
  return div(
    { class: 'page' },
    head({ title: 'Cards' }),
    loaded(decks, (found) =>
      found.decks.length
        ? ul(
            { class: 'tiles' },
            found.decks.map((/** @type {any} */ deck) =>
              li(
                { key: deck.deckId },
                a(
                  { class: 'card tile', href: to(['cards', String(deck.deckId)]) },
                  div({ class: 'row' }, strong(null, name(deck.name)), deck.due ? chip('accent', '◐', `${deck.due} due`) : null),
                  deck.description ? span({ class: 'ink-2' }, plain(deck.description)) : null,
                  span({ class: 'note' }, some(deck.cards ?? deck.cardCount ?? 0, 'card')),
                ),
              ),
            ),
          )
        : section({ class: 'card' }, empty('No decks yet. Make one in the chat (“make a deck Spanish”), or:', copyable(`toolroom call create-deck '{"name": "Spanish"}'`), true)),
    ),
  );
}

/** @param {{ deck: number }} props */
function Review({ deck }) {
  const next = useLoaded(() => run('review-next-card', { deckId: deck }), [deck]);
  const [open, setOpen] = useState(false);
  const [done, setDone] = useState(0);
  const [problem, setProblem] = useState(/** @type {any} */ (null));
  const card = next.value?.card;
  const rate = async (/** @type {string} */ rating) => {
    if (!card || !open) return;
    try {
      await run('review-card', { cardId: card.cardId, rating });
      setOpen(false);
      setDone(done + 1);
      setProblem(null);
      next.reload();
    } catch (error) {
      setProblem(error);
    }
  };
  useLayoutEffect(() =>
    onKeys({
      ' ': (event) => {
        event.preventDefault();
        setOpen(true);
      },
      1: () => {
        rate('again');
      },
      2: () => {
        rate('hard');
      },
      3: () => {
        rate('good');
      },
      4: () => {
        rate('easy');
      },
    }),
  );
  return div(
    { class: 'page narrow' },
    p({ class: 'crumb' }, a({ href: to(['cards']) }, 'Cards')),
    head({
      title: 'Review',
      beside:
        next.value?.due !== undefined || next.value?.dueCount !== undefined
          ? span({ class: 'note' }, `${next.value.due ?? next.value.dueCount} due`)
          : done
            ? span({ class: 'note' }, `${done} done`)
            : null,
    }),
    problem ? shown(problem) : null,
    loaded(next, () =>
      card
        ? section(
            { class: 'card flash', 'aria-live': 'polite' },
            div({ class: 'face' }, h2({ class: 'front' }, long(card.front))),
            open ? div({ class: 'face back' }, p({ class: 'front' }, long(card.back))) : null,
            div(
              { class: 'rate' },
              open
                ? RATINGS.map(([key, text, tone], at) => button({ key, class: `b ${tone}-b`, type: 'button', onClick: () => rate(key) }, text, ' ', kbd(null, at + 1)))
                : button({ class: 'b primary', type: 'button', onClick: () => setOpen(true) }, 'Show the answer ', kbd(null, 'Space')),
            ),
          )
        : section(
            { class: 'card' },
            empty(done ? `Done: ${some(done, 'card')} reviewed. Nothing else is due.` : 'Nothing is due in this deck.', a({ class: 'b', href: to(['cards']) }, 'Other decks'), true),
          ),
    ),
  );
}
