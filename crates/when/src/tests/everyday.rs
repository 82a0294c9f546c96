//! Dates as people write them in a hurry, on Wednesday 2026-11-18 at 09:30 in Berlin: each is read right, or refused.

use jiff::Timestamp;
use jiff::tz::TimeZone;

use crate::{WhenError, length, mentions, parse};

fn here() -> (Timestamp, TimeZone) {
    ("2026-11-18T09:30:00+01:00".parse().unwrap(), TimeZone::get("Europe/Berlin").unwrap())
}

const READ: &[(&str, &str)] = &[
    // Days from today.
    ("tmrw", "2026-11-19"),
    ("2.12. at 8:15", "2026-12-02T08:15"),
    ("8.12., 10 o'clock", "2026-12-08T10:00"),
    ("tomorow", "2026-11-19"),
    ("tomorro", "2026-11-19"),
    ("2moro", "2026-11-19"),
    ("later today", "2026-11-18"),
    ("sometime tomorrow", "2026-11-19"),
    ("day after tomorrow", "2026-11-20"),
    ("tomorrow week", "2026-11-26"),
    ("a week today", "2026-11-25"),
    ("a week tomorrow", "2026-11-26"),
    ("a week from tomorrow", "2026-11-26"),
    ("in a week", "2026-11-25"),
    ("in a week's time", "2026-11-25"),
    ("in two weeks time", "2026-12-02"),
    ("in a fortnight", "2026-12-02"),
    ("a fortnight from today", "2026-12-02"),
    ("within 3 days", "2026-11-21"),
    ("in the next 3 days", "2026-11-21"),
    ("in ten days", "2026-11-28"),
    ("in twenty-one days", "2026-12-09"),
    ("in thirty days", "2026-12-18"),
    ("10 days from now", "2026-11-28"),
    ("in 3 working days", "2026-11-23"),
    ("in five business days", "2026-11-25"),
    ("in 6 months", "2027-05-18"),
    ("in half a year", "?"),
    ("in a year", "2027-11-18"),
    ("in a couple of weeks", "2026-12-02"),
    ("a couple of days from now", "2026-11-20"),
    // Weekdays.
    ("this coming monday", "2026-11-23"),
    ("the coming monday", "2026-11-23"),
    ("coming friday", "2026-11-20"),
    ("this upcoming friday", "2026-11-20"),
    ("friday coming", "2026-11-20"),
    ("fri", "2026-11-20"),
    ("by thurs", "2026-11-19"),
    ("due tues", "2026-11-24"),
    ("on weds", "2026-11-25"),
    ("thrusday", "2026-11-19"),
    ("thurdsay", "2026-11-19"),
    ("wedensday", "2026-11-25"),
    ("wenesday", "2026-11-25"),
    ("firday", "2026-11-20"),
    ("frieday", "2026-11-20"),
    ("tuesdy", "2026-11-24"),
    ("mnoday", "2026-11-23"),
    ("satruday", "2026-11-21"),
    ("sudnay", "2026-11-22"),
    ("next tuesday", "2026-11-24"),
    ("tuesday next week", "2026-11-24"),
    ("tuesday of next week", "2026-11-24"),
    ("next week tuesday", "2026-11-24"),
    ("next week's tuesday", "2026-11-24"),
    ("the week after next", "2026-11-30"),
    ("friday week", "2026-11-27"),
    ("a week from friday", "2026-11-27"),
    ("a week on friday", "2026-11-27"),
    ("two weeks from monday", "2026-12-07"),
    ("a fortnight from saturday", "2026-12-05"),
    ("two days before friday", "2026-11-18"),
    ("the day before friday", "?"),
    ("3 days after monday", "2026-11-26"),
    ("the weekend", "2026-11-21"),
    ("over the weekend", "2026-11-21"),
    ("at the weekend", "2026-11-21"),
    ("this weekend", "2026-11-21"),
    ("this week", "2026-11-22"),
    ("sometime this week", "2026-11-22"),
    ("sometime next week", "2026-11-23"),
    ("by the end of the week", "2026-11-22"),
    ("midweek", "2026-11-25"),
    // Days of a month.
    ("the 3rd", "2026-12-03"),
    ("by the 20th", "2026-11-20"),
    ("on the 18th", "2026-11-18"),
    ("by 25th", "2026-11-25"),
    ("the first of december", "2026-12-01"),
    ("first of december", "2026-12-01"),
    ("december first", "2026-12-01"),
    ("december the first", "2026-12-01"),
    ("the twenty-first of november", "2026-11-21"),
    ("the twenty first of november", "2026-11-21"),
    ("november the thirtieth", "2026-11-30"),
    ("1st of december", "2026-12-01"),
    ("dec 1st", "2026-12-01"),
    ("dec. 24", "2026-12-24"),
    ("24 dec", "2026-12-24"),
    ("24.12.", "2026-12-24"),
    ("26.11. 17:45", "2026-11-26T17:45"),
    ("5.10.", "?"),
    ("24-Dec-2026", "2026-12-24"),
    ("24-dec", "2026-12-24"),
    ("decmber 3", "2026-12-03"),
    ("febuary 2", "2027-02-02"),
    ("the 3rd of next month", "2026-12-03"),
    ("next month on the 3rd", "2026-12-03"),
    ("the 30th of this month", "2026-11-30"),
    ("the first of the month", "2026-12-01"),
    ("the fifth of the month", "2026-12-05"),
    ("monday the 7th", "2026-12-07"),
    ("friday the 27th", "2026-11-27"),
    ("friday, november 27", "2026-11-27"),
    ("friday 27 november 2026", "2026-11-27"),
    ("nov 27, friday", "2026-11-27"),
    ("the first monday of december", "2026-12-07"),
    ("first monday in december", "2026-12-07"),
    ("the second tuesday of next month", "2026-12-08"),
    ("the last friday of the month", "2026-11-27"),
    ("last friday of november", "2026-11-27"),
    ("the last day of the month", "2026-11-30"),
    ("last day of february", "2027-02-28"),
    ("end of the month", "2026-11-30"),
    ("end of november", "2026-11-30"),
    ("the end of january", "2027-01-31"),
    ("month end", "2026-11-30"),
    ("end of next month", "2026-12-31"),
    ("end of the quarter", "2026-12-31"),
    ("end of next quarter", "2027-03-31"),
    ("eoq", "2026-12-31"),
    ("this month", "2026-11-30"),
    ("start of next week", "2026-11-23"),
    ("the beginning of next month", "2026-12-01"),
    ("beginning of december", "2026-12-01"),
    ("start of the month", "2026-12-01"),
    ("mid december", "2026-12-15"),
    ("mid-december", "2026-12-15"),
    ("the middle of next month", "2026-12-15"),
    ("by christmas", "2026-12-25"),
    ("christmas eve", "2026-12-24"),
    ("new year's eve", "2026-12-31"),
    ("new year's day", "2027-01-01"),
    ("by eod", "2026-11-18"),
    ("by cob friday", "2026-11-20"),
    ("by close of business tomorrow", "2026-11-19"),
    ("end of business friday", "2026-11-20"),
    ("by the end of tomorrow", "2026-11-19"),
    ("by end of day monday", "2026-11-23"),
    // Times.
    ("5.30pm", "2026-11-18T17:30"),
    ("5.30 p.m.", "2026-11-18T17:30"),
    ("at 17.30", "2026-11-18T17:30"),
    ("17h30", "2026-11-18T17:30"),
    ("at 17h", "2026-11-18T17:00"),
    ("at 1730", "2026-11-18T17:30"),
    ("0900 hours tomorrow", "2026-11-19T09:00"),
    ("1730hrs", "2026-11-18T17:30"),
    ("5:30pm", "2026-11-18T17:30"),
    ("5 PM", "2026-11-18T17:00"),
    ("seven pm", "2026-11-18T19:00"),
    ("seven thirty pm", "2026-11-18T19:30"),
    ("ten forty five am", "2026-11-18T10:45"),
    ("nine o'clock tomorrow", "2026-11-19T09:00"),
    ("tomorrow at nine", "2026-11-19T09:00"),
    ("friday at eight in the evening", "2026-11-20T20:00"),
    ("three in the afternoon", "2026-11-18T15:00"),
    ("six in the evening on friday", "2026-11-20T18:00"),
    ("half past six in the evening", "2026-11-18T18:30"),
    ("half past six pm", "2026-11-18T18:30"),
    ("half past ten", "2026-11-18T10:30"),
    ("a quarter past 11", "2026-11-18T11:15"),
    ("quarter to nine tomorrow", "2026-11-19T08:45"),
    ("a quarter to one tomorrow afternoon", "2026-11-19T12:45"),
    ("tomorrow at ten past eight", "2026-11-19T08:10"),
    ("twenty past three pm", "2026-11-18T15:20"),
    ("at ten to five pm", "2026-11-18T16:50"),
    ("20 minutes to 5 pm", "2026-11-18T16:40"),
    ("noon", "2026-11-18T12:00"),
    ("12 noon tomorrow", "2026-11-19T12:00"),
    ("midday on friday", "2026-11-20T12:00"),
    ("friday lunchtime", "2026-11-20T12:00"),
    ("around 3pm", "2026-11-18T15:00"),
    ("at around 4pm tomorrow", "2026-11-19T16:00"),
    ("3pm-ish", "2026-11-18T15:00"),
    ("9am sharp tomorrow", "2026-11-19T09:00"),
    ("tonight", "2026-11-18T20:00"),
    ("later tonight", "2026-11-18T20:00"),
    ("tonite at 9", "2026-11-18T21:00"),
    ("tonight at half past nine", "2026-11-18T21:30"),
    ("tomorrow night", "2026-11-19T20:00"),
    ("tomorrow first thing", "2026-11-19T09:00"),
    ("first thing monday", "2026-11-23T09:00"),
    ("first thing in the morning", "2026-11-19T09:00"),
    ("friday pm", "2026-11-20T15:00"),
    ("tomorrow a.m.", "2026-11-19T09:00"),
    ("this afternoon", "2026-11-18T15:00"),
    ("this arvo", "2026-11-18T15:00"),
    ("monday at night", "2026-11-23T20:00"),
    ("the first of december at 9 in the morning", "2026-12-01T09:00"),
    ("the 3rd at noon", "2026-12-03T12:00"),
    ("9 in the morning on the 3rd", "2026-12-03T09:00"),
    ("friday the 27th at 4.15pm", "2026-11-27T16:15"),
    ("in 20 minutes", "2026-11-18T09:50"),
    ("in twenty mins", "2026-11-18T09:50"),
    ("in an hour and a half", "2026-11-18T11:00"),
    ("in 1.5 hours", "2026-11-18T11:00"),
    ("in two and a half hours", "2026-11-18T12:00"),
    ("in 2 hours and 15 minutes", "2026-11-18T11:45"),
    ("in a half hour", "2026-11-18T10:00"),
    ("three hours from now", "2026-11-18T12:30"),
    ("tomorrow 5.30pm UK time", "2026-11-19T18:30"),
    // Refused: more than one date or time, or none.
    ("thursday or friday", "?"),
    ("3-5pm", "?"),
    ("2 to 4pm", "?"),
    ("2pm - 4pm", "?"),
    ("between 2 and 4", "?"),
    ("between monday and wednesday", "?"),
    ("nov 20 - nov 22", "?"),
    ("monday to wednesday", "?"),
    ("friday at 5", "?"),
    ("half past five", "?"),
    ("at six", "?"),
    ("3ish", "?"),
    ("in a few days", "?"),
    ("in several weeks", "?"),
    ("in a bit", "?"),
    ("early next week", "?"),
    ("late december", "?"),
    ("later this week", "?"),
    ("one of these days", "?"),
    ("the friday after next", "?"),
    ("friday the 13th", "?"),
    ("the second", "?"),
    ("third", "?"),
    ("the monday", "?"),
    ("mondays", "?"),
    ("sundry", "?"),
    ("nov 31", "?"),
    ("5/6", "?"),
    ("december", "?"),
    ("half five", "?"),
    ("at 25:00", "?"),
    ("the fifth monday of december", "?"),
];

#[test]
fn dates_as_people_write_them_are_read_right_or_refused() {
    let (now, zone) = here();
    let mut wrong = Vec::new();
    for (text, expected) in READ {
        let found = match parse(text, now, &zone) {
            Ok(found) => found.due.to_string(),
            Err(_) => "?".to_owned(),
        };
        // Times are those of Berlin, to the minute.
        let found = found.strip_suffix(":00+01:00").map_or(found.clone(), str::to_owned);
        if found != *expected {
            wrong.push(format!("{text:?} is {found}, not {expected}"));
        }
    }
    assert!(wrong.is_empty(), "{} of {}:\n{}", wrong.len(), READ.len(), wrong.join("\n"));
    assert!(READ.len() >= 150);
}

/// What stands in a sentence and is no date stays in it; what is two dates is neither of them.
#[test]
fn in_sentences_no_date_is_made_of_other_words() {
    let (now, zone) = here();
    for text in [
        "look at eight houses",
        "the second draft of the plan",
        "buy christmas presents",
        "read chapter twenty three",
        "pay 5.30 for parking",
        "give ten to five people",
        "order sundry parts",
        "plan the third month",
        "ask Frida about the key",
        "write about 5 pages",
        "a couple of eggs",
    ] {
        let found = mentions(text, now, &zone);
        assert!(found.is_empty(), "{text:?}: {found:?}");
    }
    for (text, said) in [
        ("meet Ann 3-5pm about it", "3-5pm"),
        ("call Bo thursday or friday", "thursday or friday"),
        ("be there between 2 and 4", "between 2 and 4"),
        ("workshop 2pm to 4pm", "2pm to 4pm"),
    ] {
        let found = mentions(text, now, &zone);
        assert!(
            matches!(found.as_slice(), [one]
                if text.get(one.place.clone()) == Some(said) && matches!(one.meaning, Err(WhenError::Ambiguous { .. }))),
            "{text:?}: {found:?}"
        );
    }
    for (text, said) in [
        ("ring Zoe at eight tomorrow about it", "at eight tomorrow"),
        ("send it by christmas eve", "by christmas eve"),
        ("fix the sink a week from friday please", "a week from friday"),
        ("dinner with Max seven thirty pm on the 3rd", "seven thirty pm on the 3rd"),
    ] {
        let found = mentions(text, now, &zone);
        assert!(
            matches!(found.as_slice(), [one] if text.get(one.place.clone()) == Some(said) && one.meaning.is_ok()),
            "{text:?}: {found:?}"
        );
    }
}

#[test]
fn a_length_of_time_alone_is_days_or_minutes() {
    for (text, expected) in [
        ("two days", Some((2, 0))),
        ("two more days", Some((2, 0))),
        ("by a week", Some((7, 0))),
        ("another day", Some((1, 0))),
        ("a day earlier", Some((1, 0))),
        ("a fortnight", Some((14, 0))),
        ("by an hour", Some((0, 60))),
        ("30 mins later", Some((0, 30))),
        ("an hour and a half", Some((0, 90))),
        ("a month", None),
        ("friday", None),
        ("two", None),
        ("two days before friday", None),
    ] {
        assert_eq!(length(text), expected, "{text:?}");
    }
}
