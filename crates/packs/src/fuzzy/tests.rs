//! What the formula promises: the figures that rule it, verdicts on everyday titles, and laws over any text.

use proptest::prelude::*;
use toolroom_contract::ids::{TaskId, UserId};

use super::{Change, Prepared, Query, TitleIndex, Verdict, rank, score};

const THRESHOLD: f64 = 0.6;

fn of(query: &str, title: &str) -> f64 {
    score(&Query::new(query), &Prepared::new(title))
}

fn verdict(query: &str, titles: &[&str]) -> Verdict {
    let titles: Vec<Prepared> = titles.iter().map(|title| Prepared::new(title)).collect();
    rank(&Query::new(query), THRESHOLD, (0..).map(TaskId).zip(&titles))
}

#[test]
fn published_figures_hold_exactly() {
    let figures = [
        ("Buy milk from store", "Buy milk from store", 1.0),
        ("buy MILK, from store!", "Buy milk from store", 1.0),
        ("store milk from buy", "Buy milk from store", 0.99),
        ("milk", "Buy milk from store", 0.87),
        ("the milk task", "Buy milk from store", 0.87),
        ("milk", "Milk delivery subscription", 0.78),
        ("call", "Call mom", 0.95),
        ("call", "Call dentist", 0.92),
        ("mlik", "Buy milk from store", 0.70),
        ("calls", "Call", 0.92),
        ("groc", "Groceries", 0.86),
        ("cell", "Call", 0.60),
        ("subscripton", "Subscription", 0.96),
    ];
    for (query, title, expected) in figures {
        assert_eq!(of(query, title), expected, "{query:?} on {title:?}");
    }
}

/// Each row: the query, the titles that must reach the threshold (best first), and those that must not.
type Row = (&'static str, &'static [&'static str], &'static [&'static str]);

const EVERYDAY: &[Row] = &[
    ("call", &["Call mom", "Call dentist"], &["Recall notice", "Local news"]),
    ("deploy", &["Deploy app", "Don't deploy on Friday"], &["Employ a gardener", "Deplete stock"]),
    ("dont deploy", &["Don't deploy on Friday"], &["Deploy app", "Donate clothes"]),
    ("milk", &["Buy milk from store"], &["Buy silk scarf", "Mil-spec cable", "Walk the dog"]),
    ("form", &["Fill in tax form"], &["Buy milk from store", "Letter from bank"]),
    ("team", &["Team lunch"], &["Buy tea", "Steam the rice"]),
    ("report", &["Report Q3", "Send quarterly report to Anna"], &["Airport pickup", "Import contacts"]),
    ("reprot", &["Write report"], &["Airport pickup", "Paint the porch"]),
    ("groceries", &["Buy groceries", "Grocery list"], &["Great stories"]),
    ("dentist appointment", &["Book dentist appointment"], &["Appointment with bank", "Dentures cleaning"]),
    ("car", &["Wash car", "Carpet cleaning"], &["Scar cream", "Oscar night", "Buy cat food"]),
    ("pay rent", &["Pay the rent"], &["Rent a van", "Pay gas bill", "Parent evening"]),
    ("gas bill", &["Pay gas bill"], &["Bill Gates biography", "Gasket order"]),
    ("meeting with bob", &["Meeting: Bob"], &["Alice about the offsite", "Bobsled tickets"]),
    ("passport", &["Renew passport"], &["Pass the exam", "Port the driver"]),
    ("pasport renewal", &["Passport renewal"], &["Renew licence"]),
    ("submit taxes", &["Submit tax return", "Submit taxes 2025"], &["Submit essay", "Book a taxi"]),
    ("email john", &["Email John about invoice"], &["Joan of Arc film", "Johnny's mail"]),
    ("plants", &["Water the plant", "Plants: order pots"], &["Planet documentary night", "Plan holiday"]),
    ("flight", &["Book flight to Oslo"], &["Slight cough", "Light bulbs"]),
    ("book", &["Book flight to Oslo", "Return book"], &["Look for keys", "Cookbook from Ada"]),
    ("2025", &["Taxes 2025"], &["Call 555-2526", "Room 20 25th floor"]),
    ("all hands", &["Prepare all-hands"], &["Handsaw", "Call Hans"]),
    ("wifi", &["Fix wifi"], &["Wife's birthday present"]),
];

#[test]
fn everyday_titles_are_found_and_their_lookalikes_are_not() {
    for &(query, found, others) in EVERYDAY {
        for title in found {
            assert!(of(query, title) >= THRESHOLD, "{query:?} on {title:?}: {}", of(query, title));
        }
        for title in others {
            assert!(of(query, title) < THRESHOLD, "{query:?} on {title:?}: {}", of(query, title));
        }
        let titles: Vec<&str> = others.iter().chain(found).copied().collect();
        match (verdict(query, &titles), found.len()) {
            (Verdict::Single(id, _), 1) => assert_eq!(id, TaskId(others.len() as i64), "{query:?}"),
            (Verdict::Multiple(hits), count) => {
                assert_eq!(hits.len(), count, "{query:?}: {hits:?}");
                assert!(
                    hits.is_sorted_by(|a, b| a.1 > b.1 || (a.1 == b.1 && a.0 > b.0)),
                    "{query:?}: {hits:?}"
                );
            }
            (other, count) => panic!("{query:?}: {other:?} for {count} titles"),
        }
    }
}

#[test]
fn one_exact_title_is_single_among_others_and_two_are_multiple() {
    assert_eq!(verdict("call mom", &["Call mom", "Call mom today"]), Verdict::Single(TaskId(0), 1.0));
    let twice = verdict("call mom", &["Call mom", "call mom!", "Call mom today"]);
    assert!(matches!(twice, Verdict::Multiple(ref hits) if hits.len() == 3 && hits[0] == (TaskId(1), 1.0)));
    assert_eq!(verdict("quantum", &["Call mom", "Buy milk"]), Verdict::None);
}

#[test]
fn every_script_is_searched() {
    let found = [
        ("молоко", "Купить молоко"),
        ("МОЛОКА", "Купить молоко"),
        ("牛奶", "去商店买牛奶"),
        ("牛奶 商店", "去商店买牛奶"),
        ("ミルク", "ミルクを買う"),
        ("นม", "ซื้อนมที่ร้าน"),
        ("우유", "우유 사기"),
        ("حليب", "شراء حَلِيب"),
        ("दूध", "दूध खरीदना"),
        ("cafe", "Café réunion"),
        ("strasse", "Hauptstraße Straße fegen"),
        ("λόγος", "ΛΟΓΟΣ"),
        ("milk", "买milk"),
        ("ｍｉｌｋ", "Buy milk 🥛"),
    ];
    for (query, title) in found {
        assert!(of(query, title) >= THRESHOLD, "{query:?} on {title:?}: {}", of(query, title));
    }
    let apart = [("牛奶", "养奶牛"), ("かぎ", "かき"), ("दूध", "दवा लेना"), ("молоко", "Позвонить маме")];
    for (query, title) in apart {
        assert!(of(query, title) < THRESHOLD, "{query:?} on {title:?}: {}", of(query, title));
    }
}

#[test]
fn text_without_letters_answers_only_to_itself() {
    assert_eq!(of("!!!", " !!! "), 1.0);
    assert_eq!(of("🎉", "🎉"), 1.0);
    for (query, title) in
        [("!!!", "Wow!!!"), ("🎉", "🎉 party"), ("!!!", "???"), ("milk", "!!!"), ("", "milk")]
    {
        assert_eq!(of(query, title), 0.0, "{query:?} on {title:?}");
    }
}

#[test]
fn stop_words_count_only_when_the_query_has_no_others() {
    assert_eq!(of("the therapy", "Therapy session"), of("therapy", "Therapy session"));
    assert!(of("to do", "Do laundry") >= THRESHOLD);
    assert!(of("reminder", "Reminder: water plants") >= THRESHOLD);
    assert_eq!(of("my task", "Buy milk"), 0.0);
}

#[test]
fn changes_are_applied_in_order_even_if_they_come_out_of_order() {
    let index = TitleIndex::new(100);
    let (user, query) = (UserId(1), Query::new("milk"));
    assert_eq!(index.rank(user, 5, &query, THRESHOLD), None);
    assert!(index.load(user, 5, [(TaskId(1), "Buy milk")]));
    index.apply(user, 6, 7, vec![Change::Remove(TaskId(1))]);
    assert!(matches!(index.rank(user, 5, &query, THRESHOLD), Some(Verdict::Single(TaskId(1), _))));
    assert_eq!(index.rank(user, 7, &query, THRESHOLD), None, "not answered before it is known");
    index.apply(user, 5, 6, vec![Change::Put(TaskId(1), "Buy oat milk".into())]);
    assert_eq!(index.rank(user, 7, &query, THRESHOLD), Some(Verdict::None));
}

#[test]
fn a_load_that_read_before_a_write_does_not_undo_it() {
    let index = TitleIndex::new(100);
    let (user, query) = (UserId(1), Query::new("milk"));
    assert!(index.load(user, 1, [(TaskId(1), "Buy milk")]));
    index.apply(user, 1, 2, vec![Change::Remove(TaskId(1))]);
    assert!(index.load(user, 1, [(TaskId(1), "Buy milk")]));
    assert_eq!(index.rank(user, 2, &query, THRESHOLD), Some(Verdict::None));

    let late = UserId(2);
    index.apply(late, 1, 2, vec![Change::Remove(TaskId(1))]);
    assert!(index.load(late, 1, [(TaskId(1), "Buy milk")]));
    assert_eq!(index.rank(late, 2, &query, THRESHOLD), None, "the missed write asks for a new load");
}

#[test]
fn a_gap_or_too_many_waiting_changes_drop_the_user() {
    let index = TitleIndex::new(100);
    let query = Query::new("milk");
    assert!(index.load(UserId(1), 1, [(TaskId(1), "Buy milk")]));
    for before in 10..80 {
        index.apply(UserId(1), before, before + 1, vec![]);
    }
    assert_eq!(index.rank(UserId(1), 1, &query, THRESHOLD), None);
    assert_eq!(index.held_titles(), 0);
}

#[test]
fn the_bound_drops_whole_users_least_recently_used_first() {
    let index = TitleIndex::new(4);
    let query = Query::new("milk");
    let two = |first: i64| [(TaskId(first), "Buy milk"), (TaskId(first + 1), "Sell milk")];
    let held = |user| index.rank(UserId(user), 1, &query, THRESHOLD).is_some();
    assert!(index.load(UserId(1), 1, two(1)) && index.load(UserId(2), 1, two(3)));
    assert!(held(1));
    assert!(index.load(UserId(3), 1, two(5)));
    assert!(!held(2) && held(1) && held(3));
    index.apply(UserId(3), 1, 2, vec![Change::Put(TaskId(9), "Third".into())]);
    assert!(!held(1) && held(3));
    assert_eq!(index.held_titles(), 3);
    assert!(!index.load(UserId(4), 1, (0..5).map(|id| (TaskId(id), "Too many"))));
    assert!(held(3));
}

#[derive(Clone, Debug)]
enum Step {
    Put(i64, String),
    Remove(i64),
}

fn title() -> impl Strategy<Value = String> {
    let word = prop::sample::select(vec![
        "buy",
        "milk",
        "call",
        "mom",
        "report",
        "the",
        "牛奶",
        "买",
        "молоко",
        "subscription",
        "calls",
        "2025",
    ]);
    prop_oneof![
        4 => prop::collection::vec(word, 1..6).prop_map(|words| words.join(" ")),
        1 => "\\PC{0,24}",
        1 => any::<String>(),
    ]
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        3 => (0_i64..40, title()).prop_map(|(id, title)| Step::Put(id, title)),
        1 => (0_i64..40).prop_map(Step::Remove),
    ]
}

proptest! {
    #[test]
    fn scores_stay_within_bounds(query in title(), other in title()) {
        let score = of(&query, &other);
        prop_assert!((0.0..=1.0).contains(&score));
        prop_assert_eq!(score, (score * 100.0).round() / 100.0);
        prop_assert_eq!(of(&other, &other), 1.0);
    }

    #[test]
    fn case_and_punctuation_do_not_matter(words in prop::collection::vec("[a-zA-Zà-öø-ÿ0-9]{1,9}", 1..6)) {
        let shouted = words.join(" -- ").to_uppercase();
        prop_assert_eq!(of(&shouted, &format!("{}!", words.join(" "))), 1.0);
    }

    #[test]
    fn another_order_of_the_same_words_is_099(words in prop::collection::btree_set("[a-z]{1,9}", 2..6)) {
        let words: Vec<String> = words.into_iter().collect();
        let turned: Vec<String> = words.iter().rev().cloned().collect();
        prop_assert_eq!(of(&turned.join(" "), &words.join(" ")), 0.99);
    }

    #[test]
    fn the_index_ranks_as_a_fresh_scan_does(
        steps in prop::collection::vec(step(), 0..60), text in title(), threshold in 0.0_f64..=1.0,
    ) {
        let index = TitleIndex::new(1000);
        index.load(UserId(1), 0, std::iter::empty::<(TaskId, &str)>());
        let mut plain = std::collections::BTreeMap::new();
        for (generation, step) in (0_i64..).zip(&steps) {
            let change = match step.clone() {
                Step::Put(id, title) => { plain.insert(id, title.clone()); Change::Put(TaskId(id), title) }
                Step::Remove(id) => { plain.remove(&id); Change::Remove(TaskId(id)) }
            };
            index.apply(UserId(1), generation, generation + 1, vec![change]);
        }
        let query = Query::new(&text);
        let prepared: Vec<(i64, Prepared)> = plain.iter().map(|(&id, title)| (id, Prepared::new(title))).collect();
        let hits = prepared.iter().filter(|(_, title)| score(&query, title) >= threshold).count();
        let fresh = rank(&query, threshold, prepared.iter().map(|(id, title)| (TaskId(*id), title)));
        match &fresh {
            Verdict::None => prop_assert_eq!(hits, 0),
            Verdict::Single(_, score) => prop_assert!(hits == 1 || *score == 1.0),
            Verdict::Multiple(found) => prop_assert_eq!(found.len(), hits),
        }
        prop_assert_eq!(index.rank(UserId(1), steps.len() as i64, &query, threshold), Some(fresh));
    }
}

#[test]
fn promise_any_query_takes_bounded_work_for_each_title() {
    const WORDS: &[&str] = &[
        "a",
        "ab",
        "abc",
        "milk",
        "mlik",
        "tasks",
        "the",
        "abcdefghij",
        "abcdefghik",
        "bacdefghij",
        "\u{65e5}\u{672c}",
        "\u{e9}",
        "\u{fdfa}",
        "e\u{301}",
        "y",
        "ies",
        "!!!",
    ];
    let title = |word: &&str| Prepared::new(&format!("{word} ").repeat(255 / (word.len() + 1)));
    let titles: Vec<Prepared> = WORDS.iter().map(title).collect();
    let target = toolroom_work::fuzz::Target {
        name: "finding tasks by words",
        words: WORDS,
        sample: 100,
        longest: 10_000,
        fixed: titles.len() as u64 * 400_000,
        per_byte: 20,
    };
    target.run(|text| {
        let ids = (0..).map(TaskId);
        rank(&Query::new(text), 0.6, ids.zip(&titles));
    });
}
