//! Finding tools by words and by meaning.

use toolroom_selection::{Index, Parameter, Scored, ToolText};

use crate::{index, texts};

fn names(index: &Index, found: &[Scored]) -> Vec<String> {
    found.iter().map(|hit| index.name(hit.tool).to_owned()).collect()
}

#[test]
fn the_words_of_a_name_find_the_tool_first_and_with_the_full_score() {
    let index = index();
    for name in ["create-task", "book_table", "play_music"] {
        let found = index.search(name, 3);
        assert_eq!((index.name(found[0].tool), found[0].score), (name, 1.0));
    }
}

#[test]
fn a_tool_is_found_by_what_is_meant_without_one_of_its_words() {
    let index = index();
    for (query, name) in
        [("reserve somewhere to eat tonight", "book_table"), ("put on an old jazz record", "play_music")]
    {
        let found = names(&index, &index.search(query, 3));
        assert!(found.contains(&name.to_owned()), "{query}: {found:?}");
    }
}

#[test]
fn a_tool_is_found_by_what_it_takes() {
    let takes = |name, parameter| ToolText {
        name,
        description: "Reads a value of the connected service.",
        parameters: vec![parameter],
        ..ToolText::default()
    };
    let index = Index::build(&[
        takes("read_a", Parameter { name: "customerEmail", ..Parameter::default() }),
        takes(
            "read_b",
            Parameter { name: "id", description: "The number of the invoice.", ..Parameter::default() },
        ),
        takes("read_c", Parameter { name: "kind", values: vec!["humidity", "rain"], ..Parameter::default() }),
    ]);
    for (query, name) in [
        ("what do we know of the customer with this email", "read_a"),
        ("is invoice 4711 paid", "read_b"),
        ("how much rain was there", "read_c"),
    ] {
        assert_eq!(names(&index, &index.search(query, 1)), [name], "{query}");
    }
}

#[test]
fn another_form_of_a_word_is_the_same_word() {
    let text = |name, description| ToolText { name, description, ..ToolText::default() };
    let index = Index::build(&[
        text("a", "Calculates the zqxing of a wheel."),
        text("b", "Plans the routes of a zqxly."),
        text("c", "Nothing of the kind."),
    ]);
    for (query, name) in [("calculating wheels", "a"), ("a planned route", "b")] {
        assert_eq!(names(&index, &index.search(query, 1)), [name], "{query}");
    }
}

#[test]
fn a_list_is_as_long_as_was_asked_for() {
    let index = index();
    for query in ["create task", "zebra", "book a table for two", ""] {
        for most in [1, 5, 10, 17] {
            assert_eq!(index.search(query, most).len(), most, "{query}");
        }
    }
    assert_eq!(index.search("a task", 50).len(), index.len());
    let named = names(&index, &index.search("task", 50));
    assert!(named.contains(&"get-task".to_owned()) && !named.contains(&"play_music".to_owned()), "{named:?}");
}

#[test]
fn tools_that_find_others_come_behind_what_was_registered_and_fits() {
    let index = index();
    for (query, name) in
        [("which tool books a restaurant", "book_table"), ("call a tool that plays an album", "play_music")]
    {
        let found = names(&index, &index.search(query, 17));
        let place = |name: &str| found.iter().position(|one| one == name).unwrap();
        for finder in ["search-tools", "describe-tool", "call-tool"] {
            assert!(place(name) < place(finder), "{query}: {found:?}");
        }
    }
    assert_eq!(names(&index, &index.search("search tools", 1)), ["search-tools"], "by its name it is found");
}

#[test]
fn scores_fall_from_the_first_to_the_last_and_lie_between_0_and_1() {
    let index = index();
    for query in ["task", "delete a task", "what is the weather", "zebra"] {
        let found = index.search(query, 50);
        assert!(found.windows(2).all(|pair| pair[0].score >= pair[1].score), "{query}");
        assert!(found.iter().all(|hit| hit.score > 0.0 && hit.score <= 1.0), "{query}");
    }
}

#[test]
fn the_same_query_gives_the_same_answer_from_any_index_of_the_same_tools() {
    let (one, other) = (index(), index());
    for query in ["remind me to call", "tasks that are done", "dinner for two"] {
        assert_eq!(one.search(query, 20), other.search(query, 20));
        assert_eq!(one.select(query), other.select(query));
    }
}

#[test]
fn a_tool_that_is_not_allowed_leaves_no_trace_in_results_or_scores() {
    let (all, mut some) = (index(), texts());
    some.retain(|tool| tool.name != "book_table" && tool.name != "delete-task");
    let alone = Index::build(&some);
    let allowed = |at: usize| !["book_table", "delete-task"].contains(&all.name(at));
    for query in ["book a table", "delete the task about milk", "music please", "task"] {
        let among: Vec<(String, f64)> = all
            .search_among(query, 50, allowed)
            .iter()
            .map(|hit| (all.name(hit.tool).to_owned(), hit.score))
            .collect();
        let expected: Vec<(String, f64)> =
            alone.search(query, 50).iter().map(|hit| (alone.name(hit.tool).to_owned(), hit.score)).collect();
        assert_eq!(among, expected, "{query}");
        assert_eq!(all.select_among(query, allowed), alone.select(query), "{query}");
    }
}

#[test]
fn an_empty_catalogue_finds_nothing() {
    let index = Index::build(&[]);
    assert!(index.is_empty() && index.search("task", 5).is_empty());
}
