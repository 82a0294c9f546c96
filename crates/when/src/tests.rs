//! Phrases against a fixed now (Sunday 2026-11-15, 10:00), and laws over any text and any due date.

mod everyday;

use jiff::tz::{Offset, TimeZone};
use jiff::{Timestamp, civil};
use proptest::prelude::*;

use crate::{Due, Moment, WhenError, extract, mentions, parse};

fn berlin() -> (Timestamp, TimeZone) {
    ("2026-11-15T10:00:00+01:00".parse().unwrap(), TimeZone::get("Europe/Berlin").unwrap())
}

fn new_york() -> (Timestamp, TimeZone) {
    ("2026-11-15T10:00:00-05:00".parse().unwrap(), TimeZone::get("America/New_York").unwrap())
}

const DAYS: &[(&str, &str)] = &[
    ("2026-12-31", "2026-12-31"),
    ("9999-12-31", "9999-12-31"),
    ("2024-02-29", "2024-02-29"),
    ("today", "2026-11-15"),
    (" Tomorrow ", "2026-11-16"),
    ("yesterday", "2026-11-14"),
    ("the day after tomorrow", "2026-11-17"),
    ("in 3 days", "2026-11-18"),
    ("in three days", "2026-11-18"),
    ("in 2 weeks", "2026-11-29"),
    ("in a month", "2026-12-15"),
    ("in 3 months", "2027-02-15"),
    ("in 1 year", "2027-11-15"),
    ("a week from now", "2026-11-22"),
    ("2 weeks from today", "2026-11-29"),
    ("monday", "2026-11-16"),
    ("friday", "2026-11-20"),
    ("FRI", "2026-11-20"),
    ("this friday", "2026-11-20"),
    ("on friday", "2026-11-20"),
    ("by friday", "2026-11-20"),
    ("due by friday", "2026-11-20"),
    ("next friday", "2026-11-20"),
    ("friday next week", "2026-11-20"),
    ("next week on friday", "2026-11-20"),
    ("sunday", "2026-11-22"),
    ("this coming sunday", "2026-11-22"),
    ("next sunday", "2026-11-22"),
    ("next week", "2026-11-16"),
    ("next month", "2026-12-01"),
    ("next year", "2027-01-01"),
    ("end of day", "2026-11-15"),
    ("eod", "2026-11-15"),
    ("eod friday", "2026-11-20"),
    ("by end of day tomorrow", "2026-11-16"),
    ("end of week", "2026-11-15"),
    ("end of next week", "2026-11-22"),
    ("eow", "2026-11-15"),
    ("end of the month", "2026-11-30"),
    ("eom", "2026-11-30"),
    ("end of next month", "2026-12-31"),
    ("end of year", "2026-12-31"),
    ("june 5", "2027-06-05"),
    ("June 5th, 2028", "2028-06-05"),
    ("jun 5th", "2027-06-05"),
    ("5 june", "2027-06-05"),
    ("5th of june 2027", "2027-06-05"),
    ("the 5th of june", "2027-06-05"),
    ("november 15", "2026-11-15"),
    ("nov 14", "2027-11-14"),
    ("sept. 3", "2027-09-03"),
    ("feb 29", "2028-02-29"),
    ("on the 31st", "2026-12-31"),
    ("june 5 2090", "2090-06-05"),
    ("2026/12/31", "2026-12-31"),
    ("31.12.2026", "2026-12-31"),
    ("12/31/2026", "2026-12-31"),
    ("31/12/2026", "2026-12-31"),
    ("5/5/2027", "2027-05-05"),
    ("12/31", "2026-12-31"),
    ("tommorow", "2026-11-16"),
    ("the day after tomorow", "2026-11-17"),
    ("on wensday", "2026-11-18"),
    ("this weekend", "2026-11-15"),
    ("next weekend", "2026-11-21"),
    ("in a couple of days", "2026-11-17"),
    ("in a fortnight", "2026-11-29"),
];

const TIMES: &[(&str, &str)] = &[
    ("2026-12-31T15:00:00+02:00", "2026-12-31T15:00:00+02:00"),
    ("2026-12-31t15:00:00.5z", "2026-12-31T15:00:00.5Z"),
    ("2026-07-01T15:00:00", "2026-07-01T15:00:00+02:00"),
    ("2026-12-31 15:00", "2026-12-31T15:00:00+01:00"),
    ("3pm", "2026-11-15T15:00:00+01:00"),
    ("9am", "2026-11-16T09:00:00+01:00"),
    ("10:00", "2026-11-16T10:00:00+01:00"),
    ("3:30 pm", "2026-11-15T15:30:00+01:00"),
    ("3 p.m.", "2026-11-15T15:00:00+01:00"),
    ("15:30", "2026-11-15T15:30:00+01:00"),
    ("at 9", "2026-11-16T09:00:00+01:00"),
    ("9 o'clock", "2026-11-16T09:00:00+01:00"),
    ("12am", "2026-11-16T00:00:00+01:00"),
    ("12pm", "2026-11-15T12:00:00+01:00"),
    ("noon", "2026-11-15T12:00:00+01:00"),
    ("midnight", "2026-11-16T00:00:00+01:00"),
    ("today at midnight", "2026-11-16T00:00:00+01:00"),
    ("tonight", "2026-11-15T20:00:00+01:00"),
    ("tonight at 9", "2026-11-15T21:00:00+01:00"),
    ("this evening", "2026-11-15T18:00:00+01:00"),
    ("tomorrow morning", "2026-11-16T09:00:00+01:00"),
    ("friday afternoon", "2026-11-20T15:00:00+01:00"),
    ("tomorrow at 3 in the afternoon", "2026-11-16T15:00:00+01:00"),
    ("tomorrow evening 7:30", "2026-11-16T19:30:00+01:00"),
    ("next friday 3pm", "2026-11-20T15:00:00+01:00"),
    ("tomorrow at noon", "2026-11-16T12:00:00+01:00"),
    ("3pm tomorrow", "2026-11-16T15:00:00+01:00"),
    ("in 3 days at 17:00", "2026-11-18T17:00:00+01:00"),
    ("in 2 hours", "2026-11-15T12:00:00+01:00"),
    ("in an hour", "2026-11-15T11:00:00+01:00"),
    ("in half an hour", "2026-11-15T10:30:00+01:00"),
    ("in 90 minutes", "2026-11-15T11:30:00+01:00"),
    ("june 5, 2027 at 8am", "2027-06-05T08:00:00+02:00"),
    ("2026-12-31 at 5pm", "2026-12-31T17:00:00+01:00"),
    // Clock changes: 02:30 does not exist, then exists twice.
    ("march 28 2027 2:30", "2027-03-28T03:30:00+02:00"),
    ("october 31 2027 2:30", "2027-10-31T02:30:00+02:00"),
];

#[test]
fn days_and_times_resolve_in_berlin() {
    let (now, zone) = berlin();
    for (text, expected) in DAYS.iter().chain(TIMES) {
        let found = parse(text, now, &zone).map(|found| found.due.to_string());
        assert_eq!(found.as_deref(), Ok(*expected), "{text:?}");
    }
}

#[test]
fn days_are_the_same_in_new_york_and_times_have_its_offset() {
    let (now, zone) = new_york();
    for (text, expected) in DAYS {
        let found = parse(text, now, &zone).map(|found| found.due.to_string());
        assert_eq!(found.as_deref(), Ok(*expected), "{text:?}");
    }
    let times = [
        ("tomorrow at noon", "2026-11-16T12:00:00-05:00"),
        ("july 4 2027 9pm", "2027-07-04T21:00:00-04:00"),
        ("march 14 2027 2:30", "2027-03-14T03:30:00-04:00"),
        ("2026-12-31T15:00:00+02:00", "2026-12-31T15:00:00+02:00"),
    ];
    for (text, expected) in times {
        assert_eq!(parse(text, now, &zone).unwrap().due.to_string(), expected, "{text:?}");
    }
}

/// Sunday 10:00 in Berlin; what is said in another zone is said back in Berlin's.
#[test]
fn a_time_is_read_in_the_zone_that_stands_behind_it() {
    let (now, zone) = berlin();
    for (text, expected) in [
        ("3pm EST on thursday", "2026-11-19T21:00:00+01:00"),
        ("thursday 3pm est", "2026-11-19T21:00:00+01:00"),
        ("9am JST on friday", "2026-11-20T01:00:00+01:00"),
        ("15:00 UTC", "2026-11-15T16:00:00+01:00"),
        ("15:00 UTC+5:30 tomorrow", "2026-11-16T10:30:00+01:00"),
        ("9:30 UTC-8", "2026-11-15T18:30:00+01:00"),
        ("tomorrow at noon London time", "2026-11-16T13:00:00+01:00"),
        ("8pm new york time", "2026-11-16T02:00:00+01:00"),
        ("july 1 2027 9am pacific time", "2027-07-01T18:00:00+02:00"),
        ("tomorrow 8am CET", "2026-11-16T08:00:00+01:00"),
        ("tomorrow at half past nine", "2026-11-16T09:30:00+01:00"),
        ("tomorrow evening at half past six", "2026-11-16T18:30:00+01:00"),
        ("quarter to 9 tomorrow", "2026-11-16T08:45:00+01:00"),
    ] {
        assert_eq!(
            parse(text, now, &zone).map(|found| found.due.to_string()),
            Ok(expected.into()),
            "{text:?}"
        );
    }
    for (text, said) in
        [("tomorrow 3pm CST", "CST"), ("5pm IST", "IST"), ("9am Springfield time", "Springfield time")]
    {
        assert_eq!(parse(text, now, &zone), Err(WhenError::UnknownZone(said.into())), "{text:?}");
        let sentence = format!("call Ed {text} about it");
        let found = mentions(&sentence, now, &zone);
        assert!(
            matches!(found.as_slice(), [one] if matches!(one.meaning, Err(WhenError::UnknownZone(_)))),
            "{found:?}"
        );
    }
    // Words that only look like zones stay words.
    let found = mentions("meet at 3pm west of the wet dock", now, &zone);
    assert!(matches!(found.as_slice(), [one] if one.place == (5..11) && one.meaning.is_ok()), "{found:?}");
}

#[test]
fn this_and_next_differ_within_a_week() {
    let zone = berlin().1;
    let wednesday: Timestamp = "2026-11-18T10:00:00+01:00".parse().unwrap();
    let days = [
        ("friday", "2026-11-20"),
        ("this friday", "2026-11-20"),
        ("next friday", "2026-11-27"),
        ("wednesday", "2026-11-25"),
        ("monday", "2026-11-23"),
        ("next monday", "2026-11-23"),
        ("end of week", "2026-11-22"),
    ];
    for (text, expected) in days {
        assert_eq!(parse(text, wednesday, &zone).unwrap().due.to_string(), expected, "{text:?}");
    }
}

#[test]
fn what_is_not_wholly_understood_is_refused_by_name() {
    let (now, zone) = berlin();
    let unknown = [
        ("", ""),
        ("soon", "soon"),
        ("friday-ish", "-ish"),
        ("tomorrow maybe", "maybe"),
        ("last friday", "last friday"),
        ("in 3", "in 3"),
        ("at", "at"),
        ("june", "june"),
        ("every friday", "every friday"),
        ("5", "5"),
        ("20261231", "20261231"),
    ];
    for (text, rest) in unknown {
        assert_eq!(parse(text, now, &zone), Err(WhenError::NotUnderstood(rest.into())), "{text:?}");
    }
    for text in ["6/5", "6/5/2026", "5.6.2027", "at 3", "12/31/26"] {
        assert!(matches!(parse(text, now, &zone), Err(WhenError::Ambiguous { .. })), "{text:?}");
    }
    for text in
        ["feb 30", "2026-02-30", "2027-02-29", "13/13/2026", "25:00", "13pm", "june 31", "2026-01-01T24:30"]
    {
        assert!(matches!(parse(text, now, &zone), Err(WhenError::NoSuchDate(_))), "{text:?}");
    }
    for text in ["in 11 years", "in 9999999 days", "1969-12-31", "june 5 1900", "in 999999999 hours"] {
        assert!(matches!(parse(text, now, &zone), Err(WhenError::OutOfRange(_))), "{text:?}");
    }
    for text in ["tomorrow friday", "3pm 4pm", "in 2 hours tomorrow", "tomorrow morning 3pm", "eod 3pm"] {
        assert!(matches!(parse(text, now, &zone), Err(WhenError::Contradiction(_))), "{text:?}");
    }
    assert!(parse("someday", now, &zone).unwrap_err().to_string().contains("\"someday\""));
}

#[test]
fn echoes_say_the_weekday_and_the_zone() {
    let (now, zone) = berlin();
    let echo = |text: &str| parse(text, now, &zone).unwrap().echo;
    assert_eq!(echo("next friday"), "Friday 2026-11-20");
    assert_eq!(echo("next friday 3pm"), "Friday 2026-11-20 15:00 (Europe/Berlin, UTC+01:00)");
    assert_eq!(echo("2026-11-20T15:00:00Z"), "Friday 2026-11-20 15:00 (UTC+00:00)");
}

#[test]
fn a_day_ends_at_its_last_second_and_an_instant_has_the_day_of_the_zone() {
    let (_, zone) = new_york();
    let day = Due::Date(civil::date(2026, 11, 20));
    assert_eq!(day.instant_in(&zone).to_string(), "2026-11-20T23:59:59-05:00");
    let instant = parse("2026-11-20T03:00:00Z", Timestamp::UNIX_EPOCH, &zone).unwrap().due;
    assert_eq!(instant.date_in(&zone), civil::date(2026, 11, 19));
    assert_eq!(instant.instant_in(&zone).to_string(), "2026-11-19T22:00:00-05:00");
    assert!(Due::Date(civil::Date::MAX).instant_in(&zone).at() <= Timestamp::MAX);
}

#[test]
fn tonight_is_not_over_before_the_day_is() {
    let zone = berlin().1;
    let late: Timestamp = "2026-11-15T22:00:00+01:00".parse().unwrap();
    assert_eq!(parse("tonight", late, &zone).unwrap().due.to_string(), "2026-11-15T23:59:59+01:00");
}

#[test]
fn the_longest_phrase_is_found_in_a_sentence() {
    let (now, zone) = berlin();
    let sentences = [
        ("buy milk tomorrow at 5pm", Some(("tomorrow at 5pm", "2026-11-16T17:00:00+01:00"))),
        ("call mom on friday, please", Some(("on friday", "2026-11-20"))),
        (
            "Submit report by next Friday 3pm to Anna",
            Some(("by next Friday 3pm", "2026-11-20T15:00:00+01:00")),
        ),
        ("pay rent 2026-12-01", Some(("2026-12-01", "2026-12-01"))),
        ("sync at 2026-12-01T10:00:00Z.", Some(("2026-12-01T10:00:00Z", "2026-12-01T10:00:00Z"))),
        ("remind me in 2 hours to stretch", Some(("in 2 hours", "2026-11-15T12:00:00+01:00"))),
        ("🎉 party tonight 🎉", Some(("tonight", "2026-11-15T20:00:00+01:00"))),
        ("buy sun cream", None),
        ("morning run", None),
        ("add 3/4 cup of sugar", None),
        ("24/7 support", None),
        ("buy 2 eggs", None),
    ];
    for (text, expected) in sentences {
        let found = extract(text, now, &zone).map(|(place, found)| (&text[place], found.due.to_string()));
        assert_eq!(found, expected.map(|(phrase, due)| (phrase, due.to_owned())), "{text:?}");
    }
}

/// A sentence, and the phrases in it with what each is read as.
type Sentence = (&'static str, &'static [(&'static str, Option<&'static str>)]);

#[test]
fn every_phrase_of_a_sentence_is_found_with_its_place_and_its_fault() {
    let (now, zone) = berlin();
    let sentences: &[Sentence] = &[
        ("from monday to friday", &[("monday", Some("2026-11-16")), ("friday", Some("2026-11-20"))]),
        ("pay the rent on feb 30", &[("on feb 30", None)]),
        ("retire in 40 years, or tomorrow", &[("in 40 years", None), ("tomorrow", Some("2026-11-16"))]),
        ("call mom at 3", &[("at 3", None)]),
        ("buy 3 eggs in a box", &[]),
    ];
    for (text, expected) in sentences {
        let found = mentions(text, now, &zone);
        let found: Vec<_> = found
            .iter()
            .map(|one| (&text[one.place.clone()], one.meaning.as_ref().ok().map(|it| it.due.to_string())))
            .collect();
        let expected: Vec<_> =
            expected.iter().map(|(phrase, due)| (*phrase, due.map(str::to_owned))).collect();
        assert_eq!(found, expected, "{text:?}");
    }
}

fn any_due() -> impl Strategy<Value = Due> {
    let day = (1970_i16..=9999, 1_i8..=12, 1_i8..=28).prop_map(|(y, m, d)| Due::Date(civil::date(y, m, d)));
    let instant =
        (172_800_000_000_i64..253_402_000_000_000_000, -1439_i32..=1439).prop_map(|(micros, minutes)| {
            let at = Timestamp::from_microsecond(micros).unwrap();
            Due::Instant(Moment::new(at, Offset::from_seconds(minutes * 60).unwrap()))
        });
    prop_oneof![day, instant]
}

fn phrase_like() -> impl Strategy<Value = String> {
    let words = prop::sample::select(vec![
        "in", "a", "3", "99999999", "days", "hours", "next", "friday", "week", "end", "of", "month", "june",
        "31", "2027", "at", "9", "pm", ":", "30", "/", ".", "-", "the", "th", "tonight", "midnight",
        "morning", "p", "m", "half", "an", "hour", "from", "now", "'", "é", "eod", "0", "years",
    ]);
    let glue = prop::sample::select(vec!["", " ", ", "]);
    prop::collection::vec((words, glue), 0..9)
        .prop_map(|parts| parts.into_iter().map(|(word, glue)| format!("{word}{glue}")).collect())
}

proptest! {
    #[test]
    fn a_due_date_survives_being_written_and_read(due in any_due()) {
        let (now, zone) = new_york();
        prop_assert_eq!(parse(&due.to_string(), now, &zone).map(|found| found.due), Ok(due));
    }

    #[test]
    fn no_text_makes_it_panic(text in prop_oneof![phrase_like(), any::<String>()], micros in any::<i64>()) {
        let (now, zone) = berlin();
        let now = Timestamp::from_microsecond(micros).unwrap_or(now);
        for zone in [zone, TimeZone::UTC] {
            let _ = parse(&text, now, &zone);
            if let Some((place, found)) = extract(&text, now, &zone) {
                prop_assert!(text.get(place).is_some());
                found.due.instant_in(&zone);
            }
            for one in mentions(&text, now, &zone) {
                prop_assert!(text.get(one.place).is_some());
            }
        }
    }
}

/// The words that phrases are made of, and what stands between them.
const WORDS: &[&str] = &[
    "by",
    "due",
    "on",
    "at",
    "in",
    "the",
    "this",
    "next",
    "end",
    "of",
    "day",
    "after",
    "tomorrow",
    "today",
    "tonight",
    "noon",
    "midnight",
    "friday",
    "fri",
    "week",
    "weekend",
    "month",
    "june",
    "feb",
    "30",
    "31",
    "5",
    "5pm",
    "12/31",
    "1/",
    "2026-12-31",
    "2026-12-31T15:00:00+01:00",
    "T",
    ":",
    "/",
    "-",
    "st",
    "th",
    "a",
    "couple",
    "half",
    "an",
    "hour",
    "from",
    "now",
    "1",
    "999999999",
    "morning",
    "evening",
    "am",
    "p.m.",
    "oclock",
    "years",
    "coming",
    "not",
    "and",
];

#[test]
fn promise_finding_dates_in_any_text_takes_work_that_grows_with_its_length_alone() {
    let (now, zone) = berlin();
    let target = toolroom_work::fuzz::Target {
        name: "dates in a sentence",
        words: WORDS,
        sample: 200,
        longest: 10_000,
        fixed: 100,
        per_byte: 900,
    };
    target.run(|text| {
        let found = mentions(text, now, &zone);
        assert!(found.windows(2).all(|pair| pair[0].place.end <= pair[1].place.start));
        let _ = parse(text, now, &zone);
    });
}
