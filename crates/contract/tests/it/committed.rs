//! Compares a committed, generated file with what it is generated from.

use std::path::PathBuf;

/// The text of a file of the repository, by its path from the root.
pub(crate) fn read(path: &str) -> String {
    std::fs::read_to_string(full(path)).unwrap_or_default()
}

/// Fails if the committed file is not what was rendered; rewrites it instead if `UPDATE_EXPECT=1`.
#[track_caller]
pub(crate) fn compare(path: &str, rendered: &str) {
    if std::env::var_os("UPDATE_EXPECT").is_some_and(|value| value == "1") {
        let full = full(path);
        std::fs::create_dir_all(full.parent().unwrap()).unwrap();
        std::fs::write(full, rendered).unwrap();
        return;
    }
    let committed = read(path);
    let differs = committed.lines().zip(rendered.lines()).position(|(is, should)| is != should);
    let line = differs.unwrap_or_else(|| committed.lines().count().min(rendered.lines().count())) + 1;
    assert!(
        committed == rendered,
        "{path} is not what the source renders (first difference in line {line}).\n\
         Run `UPDATE_EXPECT=1 cargo nextest run -p toolroom-contract` to rewrite it, and look at the diff."
    );
}

fn full(path: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..").join(path)
}
