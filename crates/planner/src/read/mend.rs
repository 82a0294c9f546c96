//! Mends what the trained reader cut in two: words are whole, and what begins with a command is a wish of its own.

use toolroom_tagger::{Clause, Intent, Span, SpanKind, Tagging};

use super::courtesy;

pub(super) fn mended(text: &str, mut tagging: Tagging) -> Tagging {
    for span in &mut tagging.spans {
        // "9:" of "9:15" goes on to the end of the word.
        let rest = text.get(span.place.end..).unwrap_or_default();
        let is_open = text.get(..span.place.end).is_some_and(|text| text.ends_with([':', '.', '-', '/']))
            || rest.starts_with([':', '/']);
        let more = rest.find(char::is_whitespace).unwrap_or(rest.len());
        let tail = rest.get(..more).unwrap_or_default();
        if span.kind == SpanKind::When && is_open && tail.ends_with(|c: char| c.is_ascii_alphanumeric()) {
            span.place.end += more;
        }
    }
    while let Some((at, span)) = command(text, &tagging) {
        split(&mut tagging, at, span);
    }
    tagging
}

/// A title of nothing but a command's words, right before words that name a task: "move [the parcel]".
fn command(text: &str, tagging: &Tagging) -> Option<(usize, usize)> {
    tagging.clauses.iter().enumerate().filter(|(_, clause)| clause.intent == Intent::Create).find_map(
        |(at, clause)| {
            let spans = tagging.spans.windows(2).enumerate();
            let found = spans.filter(|(_, pair)| within(clause, &pair[0]) && within(clause, &pair[1])).find(
                |(_, pair)| {
                    let said = text.get(pair[0].place.clone()).unwrap_or_default().to_lowercase();
                    let gap = text.get(pair[0].place.end..pair[1].place.start).unwrap_or_default();
                    let is_command = |word: &str| {
                        courtesy::VERBS.split('|').any(|verb| verb == word)
                            || ["the", "my", "a"].contains(&word)
                    };
                    pair[0].kind == SpanKind::Title
                        && pair[1].kind == SpanKind::Target
                        && said.split_whitespace().all(is_command)
                        && gap.split_whitespace().all(|word| ["the", "my", "a", "our"].contains(&word))
                },
            );
            found.map(|(span, _)| (at, span))
        },
    )
}

/// Makes the words from a span on a clause of their own, that changes something.
fn split(tagging: &mut Tagging, at: usize, span: usize) {
    let title = tagging.spans.remove(span);
    let Some(clause) = tagging.clauses.get_mut(at) else { return };
    let is_first =
        !tagging.spans.iter().any(|one| within(clause, one) && one.words.start < title.words.start);
    if is_first {
        clause.intent = Intent::Update;
        return;
    }
    let rest = Clause {
        intent: Intent::Update,
        place: title.place.start..clause.place.end,
        words: title.words.start..clause.words.end,
        chance: clause.chance,
    };
    clause.place.end = title.place.start;
    clause.words.end = title.words.start;
    tagging.clauses.insert(at + 1, rest);
}

fn within(clause: &Clause, span: &Span) -> bool {
    super::tagged::inside(clause, span)
}
