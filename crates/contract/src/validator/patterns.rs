//! What a pattern costs, from its text: how many states its automaton has in memory, and how many of them a
//! character can keep busy.

use super::steady;

/// What one pattern costs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct PatternCost {
    /// Letters and classes, repetitions written out.
    pub positions: u64,
    /// About the memory of the compiled pattern.
    pub bytes: u64,
    /// What a byte of text may cost: all states may be busy at once, and the engine may have to compute again
    /// with every byte which of them are. Nothing for a pattern where that cannot be (`steady`).
    pub per_byte: u64,
}

/// A compiled pattern that does next to nothing.
const SMALLEST: u64 = 8 * 1024;
/// Forwards and backwards.
const BYTES_PER_STATE: u64 = 64;
/// States of a class such as `\p{L}`, of one that takes most characters, and of one of a few.
const UNICODE: u64 = 1_400;
const MOST_CHARACTERS: u64 = 16;
const FEW: u64 = 2;

#[derive(Clone, Copy, Default)]
struct Size {
    positions: u64,
    states: u64,
    /// Positions, and the branches between them.
    busy: u64,
}

impl Size {
    const fn class(states: u64) -> Self {
        Self { positions: 1, states, busy: 1 }
    }

    /// A branch, a group or an anchor.
    const fn branch() -> Self {
        Self { positions: 0, states: 1, busy: 1 }
    }

    fn plus(self, other: Self) -> Self {
        Self {
            positions: self.positions.saturating_add(other.positions),
            states: self.states.saturating_add(other.states),
            busy: self.busy.saturating_add(other.busy),
        }
    }

    fn times(self, count: u64) -> Self {
        Self {
            positions: self.positions.saturating_mul(count),
            states: self.states.saturating_mul(count),
            busy: self.busy.saturating_mul(count),
        }
    }
}

/// A group that is not closed yet: what it holds, and its last part, to which a repetition applies.
#[derive(Clone, Copy, Default)]
struct Group {
    whole: Size,
    last: Size,
}

impl Group {
    fn push(&mut self, part: Size) {
        self.whole = self.whole.plus(self.last);
        self.last = part;
    }

    fn close(self) -> Size {
        self.whole.plus(self.last)
    }
}

/// Reads a pattern once, from left to right. A malformed one is left to the engine, which refuses it.
pub(super) fn cost(pattern: &str) -> PatternCost {
    if spaced_out(pattern) {
        return PatternCost { positions: u64::MAX, bytes: u64::MAX, per_byte: u64::MAX };
    }
    let mut open = vec![Group::default()];
    let mut rest = pattern.chars();
    while let Some(c) = rest.next() {
        let depth = open.len();
        let Some(group) = open.last_mut() else { break };
        match c {
            '(' => open.push(Group::default()),
            ')' if depth > 1 => {
                let closed = open.pop().unwrap_or_default().close();
                if let Some(outer) = open.last_mut() {
                    outer.push(closed.plus(Size::branch()));
                }
            }
            '[' => group.push(class(&mut rest)),
            '\\' => group.push(escape(&mut rest)),
            '.' => group.push(Size::class(MOST_CHARACTERS)),
            '+' => group.last = group.last.times(2),
            '{' => match repetition(rest.as_str()) {
                Some((count, length)) => {
                    group.last = group.last.times(count);
                    rest = rest.as_str().get(length..).unwrap_or_default().chars();
                }
                None => group.push(Size::class(1)),
            },
            '*' | '?' => group.last = group.last.plus(Size::branch()),
            '^' | '$' | '|' => group.push(Size::branch()),
            c => group.push(Size::class(c.len_utf8() as u64)),
        }
    }
    let whole = open.into_iter().fold(Size::default(), |sum, group| sum.plus(group.close()));
    PatternCost {
        positions: whole.positions.max(1),
        bytes: SMALLEST.saturating_add(whole.states.saturating_mul(BYTES_PER_STATE)),
        per_byte: if steady::is(pattern) { 0 } else { whole.busy.max(1) },
    }
}

/// Whether a flag lets white space stand between a part and its repetition, so that it cannot be counted here.
fn spaced_out(pattern: &str) -> bool {
    pattern
        .split("(?")
        .skip(1)
        .any(|rest| rest.chars().take_while(|c| c.is_ascii_alphabetic() || *c == '-').any(|c| c == 'x'))
}

/// The rest of a class, after its bracket.
fn class(rest: &mut std::str::Chars<'_>) -> Size {
    let mut states = FEW;
    while let Some(c) = rest.next() {
        match c {
            ']' => break,
            '^' => states = states.max(MOST_CHARACTERS),
            '\\' => states = states.saturating_add(escape(rest).states),
            c if !c.is_ascii() => states = states.saturating_add(4),
            _ => {}
        }
    }
    Size::class(states)
}

/// What follows a backslash.
fn escape(rest: &mut std::str::Chars<'_>) -> Size {
    match rest.next() {
        Some('p' | 'P') => {
            if rest.as_str().starts_with('{') {
                rest.by_ref().find(|c| *c == '}');
            }
            Size::class(UNICODE)
        }
        Some('D' | 'W' | 'S') => Size::class(MOST_CHARACTERS),
        Some('u' | 'x') if rest.as_str().starts_with('{') => {
            rest.by_ref().find(|c| *c == '}');
            Size::class(4)
        }
        _ => Size::class(FEW),
    }
}

/// The most often that `{n}`, `{n,}` or `{n,m}` repeats, and how long it is without its opening brace.
fn repetition(rest: &str) -> Option<(u64, usize)> {
    let end = rest.find('}')?;
    let (least, most) =
        rest.get(..end)?.split_once(',').map_or((rest.get(..end)?, None), |(a, b)| (a, Some(b)));
    let number = |text: &str| {
        let digits = !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
        digits.then(|| text.parse::<u64>().unwrap_or(u64::MAX))
    };
    let count = match (number(least), most) {
        (Some(least), None) => least,
        (Some(least), Some("")) => least.saturating_add(1),
        (Some(least), Some(most)) => number(most)?.max(least),
        (None, _) => return None,
    };
    Some((count.max(1), end + 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn repetitions_are_written_out_however_they_are_nested() {
        assert_eq!(cost("^a{3}b$").positions, 4);
        assert_eq!(cost("^(ab{2,5}){10,20}$").positions, 120);
        assert_eq!(cost("(((a{999}){999}){999}){999}").positions, 999_u64.pow(4));
        assert_eq!(cost("a{99999999999999999999}b").positions, u64::MAX);
        assert_eq!(cost(r"[\]x]{4}\{5}").positions, 7);
        assert_eq!(cost("a{,5}").positions, 5);
    }

    #[test]
    fn a_byte_costs_what_all_states_cost_that_may_be_busy() {
        assert!(cost("^(a|b)*a(a|b){13}(?:25)?$").per_byte > 30);
        assert!(cost("^(?:a|()|()|()){50}$").per_byte > 300);
        assert_eq!(cost("^[a-z0-9-]{1,64}$").per_byte, 0);
        assert_eq!(cost("(?x)(abc) {1000}").positions, u64::MAX);
    }

    #[test]
    fn classes_of_whole_scripts_weigh_what_they_do() {
        assert!(cost(r"^\p{L}{120}$").bytes > 8 << 20);
        assert!(cost(r"^[\p{L} '-]{1,120}$").bytes > 8 << 20);
        assert!(cost("^[a-z0-9-]{1,64}$").bytes < 32 << 10);
    }
}
