//! What a person may mean by the letters typed so far: what begins with them, then what has a word that does, then
//! what holds them, then what holds them in order with others between.

/// The best of the values, best first, and how many there were.
pub(crate) fn rank(values: Vec<String>, typed: &str, most: usize) -> (Vec<String>, usize) {
    let typed = typed.trim().to_lowercase();
    let mut fitting: Vec<(u8, String)> =
        values.into_iter().filter_map(|value| Some((grade(&value.to_lowercase(), &typed)?, value))).collect();
    fitting.sort();
    fitting.dedup();
    let total = fitting.len();
    (fitting.into_iter().take(most).map(|(_, value)| value).collect(), total)
}

fn grade(value: &str, typed: &str) -> Option<u8> {
    toolroom_work::step(value.len() + typed.len());
    if value.starts_with(typed) {
        return Some(0);
    }
    if value.split(|letter: char| !letter.is_alphanumeric()).any(|word| word.starts_with(typed)) {
        return Some(1);
    }
    if value.contains(typed) {
        return Some(2);
    }
    // Two letters are in nearly everything in some order.
    (typed.chars().count() > 2 && holds_in_order(value, typed)).then_some(3)
}

fn holds_in_order(value: &str, typed: &str) -> bool {
    let mut letters = value.chars();
    typed.chars().all(|wanted| letters.any(|letter| letter == wanted))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ranked(typed: &str) -> Vec<String> {
        let values = ["Call mom", "Buy milk", "Email Milan", "a familiar place", "Mil"];
        rank(values.iter().map(ToString::to_string).collect(), typed, 100).0
    }

    #[test]
    fn beginnings_come_before_words_and_words_before_insides() {
        assert_eq!(ranked("mil"), ["Mil", "Buy milk", "Email Milan", "a familiar place"]);
    }

    #[test]
    fn letters_in_order_are_enough_and_nothing_is_left_out_when_nothing_is_typed() {
        assert_eq!(ranked("bmk"), ["Buy milk"]);
        assert_eq!(ranked("").len(), 5);
        assert!(ranked("xyz").is_empty());
    }

    #[test]
    fn promise_any_letters_typed_take_work_that_grows_with_their_number_alone() {
        let target = toolroom_work::fuzz::Target {
            name: "completion of arguments",
            words: &["a", "ab", "mil", "milk", "\u{e9}", "\u{130}", " "],
            sample: 100,
            longest: 10_000,
            fixed: 2_500,
            per_byte: 60,
        };
        target.run(|typed| {
            let values = (0..20).map(|n| "a milk ab ".repeat(n)).collect();
            rank(values, typed, 100);
        });
    }

    #[test]
    fn the_rest_is_counted() {
        let values = (0..500).map(|n| format!("task {n:03}")).collect();
        let (shown, total) = rank(values, "task", 100);
        assert_eq!((shown.len(), total), (100, 500));
    }
}
