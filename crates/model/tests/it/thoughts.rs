//! What a model thinks aloud is not said, in whatever pieces it comes.

use toolroom_model::openai::Thoughts;
use toolroom_work::counted;

#[test]
fn promise_thoughts_in_small_pieces_take_work_that_grows_with_their_length_alone() {
    for (start, piece) in [("<think>", "a "), ("", " "), ("<think>", "</thin"), ("<think>", "\u{e9}")] {
        let ((), taken) = counted(|| {
            let mut thoughts = Thoughts::default();
            thoughts.pass(start);
            (0..20_000).for_each(|_| drop(thoughts.pass(piece)));
        });
        assert!(taken < 20_000 * 30, "{piece:?}: {taken} steps");
    }
}

#[test]
fn the_end_of_thoughts_is_found_across_pieces() {
    let mut thoughts = Thoughts::default();
    let said: String = ["\n<thi", "nk>wait", " \u{e9}</", "thi", "nk>", " Hi", " there"]
        .into_iter()
        .map(|piece| thoughts.pass(piece))
        .collect();
    assert_eq!(said, " Hi there");
}
