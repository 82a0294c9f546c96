//! Patterns for which at most one way through is open at each byte, however long the text: the engine learns their
//! states once. All others may cost what all their states cost, at every byte.

/// What one part of a pattern takes: ASCII characters, one bit for each, and whether it takes any others.
#[derive(Clone, Copy)]
struct Taken {
    ascii: u128,
    others: bool,
}

impl Taken {
    const NONE: Self = Self { ascii: 0, others: false };
    const ALL: Self = Self { ascii: u128::MAX, others: true };

    fn one(c: char) -> Self {
        if c.is_ascii() {
            Self { ascii: 1 << u32::from(c), others: false }
        } else {
            Self { ascii: 0, others: true }
        }
    }

    fn plus(self, other: Self) -> Self {
        Self { ascii: self.ascii | other.ascii, others: self.others || other.others }
    }

    fn overlaps(self, other: Self) -> bool {
        self.ascii & other.ascii != 0 || (self.others && other.others)
    }
}

/// Whether a pattern is one of those: a sequence from the start of the text, without groups and choices, in which
/// whatever may repeat has nothing in common with what may follow.
pub(super) fn is(pattern: &str) -> bool {
    let Some(rest) = pattern.strip_prefix('^') else {
        // A plain word, anywhere.
        return pattern
            .chars()
            .all(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_' | '/' | ':' | '@'));
    };
    follows(rest.strip_suffix('$').filter(|rest| !rest.ends_with('\\')).unwrap_or(rest)).unwrap_or(false)
}

/// `None` where something is met that is not understood here.
fn follows(text: &str) -> Option<bool> {
    let mut rest = text.chars();
    // What may still be taken by parts before that repeat or may be left out.
    let mut open = Taken::NONE;
    while let Some(c) = rest.next() {
        let taken = match c {
            '[' => class(&mut rest)?,
            '\\' => escape(&mut rest)?,
            '.' => Taken::ALL,
            '(' | ')' | '|' | '^' | '$' | '*' | '+' | '?' | '{' | '}' | ']' => return None,
            c => Taken::one(c),
        };
        if open.overlaps(taken) {
            return Some(false);
        }
        let after = rest.as_str();
        let (least, varies, length) = match after.chars().next() {
            Some('*') => (0, true, 1),
            Some('+') => (1, true, 1),
            Some('?') => (0, true, 1),
            Some('{') => {
                let end = after.find('}')?;
                let (least, most) = match after.get(1..end)?.split_once(',') {
                    Some((least, most)) => (least, most),
                    None => (after.get(1..end)?, after.get(1..end)?),
                };
                (least.parse::<u64>().ok()?, least != most, end + 1)
            }
            _ => (1, false, 0),
        };
        rest = after.get(length..)?.chars();
        let before = if least == 0 { open } else { Taken::NONE };
        open = if varies { before.plus(taken) } else { before };
    }
    Some(true)
}

fn class(rest: &mut std::str::Chars<'_>) -> Option<Taken> {
    let negated = rest.as_str().starts_with('^');
    if negated {
        rest.next();
    }
    let mut taken = Taken::NONE;
    let mut last: Option<char> = None;
    loop {
        match rest.next()? {
            ']' => break,
            // Classes in classes and what is done with them.
            '[' | '&' | '~' => return None,
            '\\' => {
                taken = taken.plus(escape(rest)?);
                last = None;
            }
            '-' if last.is_some() && !rest.as_str().starts_with(']') => {
                let (from, to) = (last.take()?, rest.next()?);
                if !from.is_ascii_alphanumeric() || !to.is_ascii_alphanumeric() {
                    return None;
                }
                taken = (from..=to).fold(taken, |taken, c| taken.plus(Taken::one(c)));
            }
            c => {
                taken = taken.plus(Taken::one(c));
                last = Some(c);
            }
        }
    }
    Some(if negated { Taken { ascii: !taken.ascii, others: true } } else { taken })
}

fn escape(rest: &mut std::str::Chars<'_>) -> Option<Taken> {
    let of = |fits: fn(char) -> bool, others: bool| {
        let ascii = ('\0'..='\x7f').filter(|c| fits(*c));
        ascii.fold(Taken { ascii: 0, others }, |taken, c| taken.plus(Taken::one(c)))
    };
    Some(match rest.next()? {
        // Engines differ in whether these take more than ASCII: the larger of both.
        'd' => of(|c| c.is_ascii_digit(), true),
        'w' => of(|c| c.is_ascii_alphanumeric() || c == '_', true),
        's' => of(|c| c.is_ascii_whitespace() || c == '\x0b', true),
        'p' | 'P' => {
            if rest.as_str().starts_with('{') {
                rest.find(|c| *c == '}')?;
            } else {
                rest.next()?;
            }
            Taken::ALL
        }
        'D' | 'W' | 'S' => Taken::ALL,
        c if c.is_ascii_punctuation() => Taken::one(c),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::is;

    #[test]
    fn a_sequence_without_a_choice_is_steady_and_others_are_not() {
        for pattern in [
            "^[\\p{L}0-9 -]{1,40}$",
            "^[a-z0-9-]{1,64}$",
            "^\\d{4}-\\d{2}-\\d{2}$",
            "^[A-Z]{2}[0-9]+$",
            "^https://",
            "^/[^/]*/x$",
            "needle",
        ] {
            assert!(is(pattern), "{pattern}");
        }
        for pattern in [
            "^(a|b)*a(a|b){13}$",
            "^[ab]*a[ab]{13}$",
            "^[ab]{0,200}a[ab]{13}$",
            "^[ab]*b?a[ab]{13}$",
            "[ab]{14}x",
            "a[ab]{13}",
            "^.*a.{13}$",
            "^x|a[ab]{13}$",
            "^[ab]*c{0}a[ab]{13}$",
            "^[ab]{1,9}{1,9}a[ab]{13}",
            "(?i)^a",
        ] {
            assert!(!is(pattern), "{pattern}");
        }
    }
}
