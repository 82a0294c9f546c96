//! `docs/proofs/` names the test of every promise; a name without a test proves nothing. User pages name none.

use std::fs;
use std::path::{Path, PathBuf};

/// The tests that a page names, as `crate::module::test`.
fn named(page: &str) -> Vec<(&str, String, &str)> {
    let quoted = page.split('`').skip(1).step_by(2);
    quoted
        .filter_map(|text| {
            let mut parts = text.split("::");
            let (krate, rest) = (parts.next()?, parts.collect::<Vec<_>>());
            let (test, modules) = rest.split_last()?;
            (home(krate).is_some() && !modules.is_empty()).then(|| (krate, modules.join("/"), *test))
        })
        .collect()
}

/// The folder of a crate's tests; `tests/mcp` is a crate of nothing else.
fn home(krate: &str) -> Option<PathBuf> {
    let places = ["crates", "tests"].map(|parent| Path::new("..").join(parent).join(krate).join("tests/it"));
    places.into_iter().find(|place| place.is_dir())
}

fn sources(folder: &Path) -> String {
    let mut text = String::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            text += &sources(&path);
        } else if path.extension().is_some_and(|ending| ending == "rs") {
            text += &fs::read_to_string(&path).unwrap();
        }
    }
    text
}

/// The tests that a page names as `pytest file::test`.
fn named_in_python(page: &str) -> impl Iterator<Item = (&str, &str)> {
    let quoted = page.split('`').skip(1).step_by(2).filter_map(|text| text.strip_prefix("pytest "));
    quoted.map(|text| text.split_once("::").unwrap_or((text, ""))).map(|(file, test)| {
        let test = test.split('[').next().unwrap_or_default();
        (file, test)
    })
}

#[test]
fn every_test_that_a_proof_names_exists() {
    let mut missing = Vec::new();
    let mut checked = 0;
    for page in fs::read_dir("../docs/proofs").unwrap() {
        let page = page.unwrap().path();
        let text = fs::read_to_string(&page).unwrap();
        for (krate, module, test) in named(&text) {
            checked += 1;
            let folder = home(krate).unwrap();
            let source = match folder.join(format!("{module}.rs")) {
                file if file.is_file() => fs::read_to_string(file).unwrap(),
                _ if folder.join(&module).is_dir() => sources(&folder.join(&module)),
                _ => String::new(),
            };
            let found =
                if test == "*" { source.contains("fn ") } else { source.contains(&format!("fn {test}(")) };
            if !found {
                missing.push(format!("{}: {krate}::{module}::{test}", page.display()));
            }
        }
        for (file, test) in named_in_python(&text) {
            checked += 1;
            let source = fs::read_to_string(Path::new("../tests/python").join(file)).unwrap_or_default();
            if !source.contains(&format!("def {test}")) {
                missing.push(format!("{}: {file}::{test}", page.display()));
            }
        }
    }
    assert!(checked > 150, "the tables were not read");
    assert!(missing.is_empty(), "tests that pages name and nobody wrote:\n{}", missing.join("\n"));
}

/// The clients and frameworks of the user pages: each row of a table has its test.
#[test]
fn every_client_and_framework_of_a_table_has_a_proof() {
    for (page, rows) in [("connect.md", 9), ("frameworks.md", 13)] {
        let text = fs::read_to_string(Path::new("../docs").join(page)).unwrap();
        let proofs = fs::read_to_string(Path::new("../docs/proofs").join(page)).unwrap();
        let table = text.lines().skip_while(|line| !line.starts_with("| ---")).skip(1);
        let names: Vec<&str> = table
            .map_while(|line| line.strip_prefix("| ")?.split(" | ").next())
            .filter_map(|name| name.split([',', '(']).next())
            .collect();
        assert!(names.len() >= rows, "{page}: {names:?}");
        let missing: Vec<_> = names.iter().filter(|name| !proofs.contains(name.trim())).collect();
        assert!(missing.is_empty(), "docs/proofs/{page} does not name {missing:?}");
    }
}

/// Users read what a thing does and how to use it, not how it is proved.
#[test]
fn user_pages_name_no_tests_and_no_specifications() {
    let pages =
        fs::read_dir("../docs").unwrap().map(|page| page.unwrap().path()).filter(|path| path.is_file());
    let mut read = 0;
    for page in pages.chain([PathBuf::from("../README.md")]) {
        let text = fs::read_to_string(&page).unwrap();
        read += 1;
        assert!(named(&text).is_empty(), "{} names tests", page.display());
        assert!(
            !text.to_lowercase().contains("seed 00"),
            "{} names a specification by its number",
            page.display()
        );
    }
    assert!(read > 10, "the pages were not read");
}

#[test]
fn the_index_links_every_page() {
    let index = fs::read_to_string("../docs/README.md").unwrap();
    for page in fs::read_dir("../docs").unwrap() {
        let name = page.unwrap().file_name().into_string().unwrap();
        assert!(
            name == "README.md" || index.contains(&format!("({name})")),
            "docs/README.md does not link {name}"
        );
    }
}
