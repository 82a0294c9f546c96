//! Words cut to what their forms share, so that "booking rooms" finds "book a room".

/// Words that say nothing about a tool; they count only if a query has no others.
const SILENT: &str = "
    a about also am an and any are as at be been being between both but by can could did do does doing each for from
    had has have having he her here hers him his how i if in into is it its itself just let may me might more most must
    my no nor not now of off on only or other our ours out over own please same shall she should so some something such
    than that the their theirs them then there these they this those through to too under until up us very want was we
    were what when where which who whom whose why will with would you your yours
    s t d m re ve ll";

/// Whether a word in lower case says nothing about a tool.
pub fn is_silent(word: &str) -> bool {
    SILENT.split_ascii_whitespace().any(|silent| silent == word)
}

/// A word in lower case without the endings of plural, past and present. What is left need not be a word: it only has
/// to be the same for all forms.
pub fn stem(mut word: String) -> String {
    toolroom_work::step(word.len());
    if word.len() > 4 && word.ends_with("ies") {
        word.truncate(word.len() - 3);
        word.push('y');
        return word;
    }
    if word.len() > 3 && word.ends_with('s') && !word.ends_with("ss") {
        word.pop();
    }
    let cut = ["ing", "ed"].iter().find_map(|ending| word.strip_suffix(ending));
    if let Some(rest) = cut.filter(|rest| rest.len() >= 3 && rest.contains(['a', 'e', 'i', 'o', 'u', 'y'])) {
        word.truncate(rest.len());
        if let [.., before, last] = word.as_bytes()
            && word.len() > 3
            && before == last
            && last.is_ascii_alphabetic()
            && !b"lsz".contains(last)
        {
            word.pop();
        }
    }
    // Shorter ones stay, or "note" would be "not".
    if word.len() > 4 && word.ends_with('e') {
        word.pop();
    }
    word
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_forms_of_a_word_are_one() {
        for forms in [
            &["task", "tasks"][..],
            &["book", "books", "booked", "booking"],
            &["calculate", "calculates", "calculated", "calculating"],
            &["plan", "planned", "planning"],
            &["city", "cities"],
            &["price", "prices", "pricing"],
            &["address", "addressed"],
        ] {
            let stems: Vec<String> = forms.iter().map(|form| stem((*form).to_owned())).collect();
            assert!(stems.windows(2).all(|pair| pair[0] == pair[1]), "{stems:?}");
        }
    }

    #[test]
    fn short_words_and_other_scripts_stay() {
        for word in ["ring", "bed", "gas", "us", "ß", "ähnlich", "日本語", "s", ""] {
            assert_eq!(stem(word.to_owned()), word);
        }
    }
}
