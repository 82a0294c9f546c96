//! Names of tools and APIs: short, and the same whenever the document is imported.

use std::collections::BTreeMap;

use serde_json::Value;
use toolroom_contract::canonical::digest;

/// The longest name that every client takes.
const LONGEST: usize = 64;
const LONGEST_API: usize = 40;

/// The names of operations, given the id of each (if it has one), and its method and path.
pub(crate) fn of_operations<'a>(operations: impl Iterator<Item = (Option<&'a str>, String)>) -> Vec<String> {
    let wanted: Vec<(String, String)> = operations
        .map(|(id, operation)| {
            let name = id.map(kebab).filter(|name| !name.is_empty());
            (name.unwrap_or_else(|| kebab(&operation)), operation)
        })
        .collect();
    let mut count: BTreeMap<&str, usize> = BTreeMap::new();
    for (name, _) in &wanted {
        *count.entry(name).or_default() += 1;
    }
    let named = |(name, operation): &(String, String)| match count.get(name.as_str()) {
        Some(1) if name.len() <= LONGEST && !name.is_empty() => name.clone(),
        // Never numbered: a number would depend on the order of the document.
        _ => {
            let hash = &digest("operation", &Value::from(operation.as_str())).to_hex()[..6];
            let end = name.len().min(LONGEST - 7);
            format!("{}-{hash}", name[..end].trim_end_matches('-')).trim_start_matches('-').to_owned()
        }
    };
    wanted.iter().map(named).collect()
}

/// A text in kebab-case: `getHTTPUser` and `get_http_user` are `get-http-user`.
pub(crate) fn kebab(text: &str) -> String {
    let letters: Vec<char> = text.chars().collect();
    let mut name = String::new();
    for (at, letter) in letters.iter().enumerate() {
        if !letter.is_ascii_alphanumeric() {
            if !name.is_empty() && !name.ends_with('-') {
                name.push('-');
            }
            continue;
        }
        let before = at.checked_sub(1).map(|at| letters[at]);
        let after_small = before.is_some_and(|letter| letter.is_ascii_lowercase() || letter.is_ascii_digit());
        let starts_word = before.is_some_and(|letter| letter.is_ascii_uppercase())
            && letters.get(at + 1).is_some_and(char::is_ascii_lowercase);
        if letter.is_ascii_uppercase() && (after_small || starts_word) && !name.ends_with('-') {
            name.push('-');
        }
        name.push(letter.to_ascii_lowercase());
    }
    name.trim_end_matches('-').to_owned()
}

/// The name of an API with that title.
pub fn api_name(title: &str) -> String {
    let name = kebab(&title.to_lowercase());
    let end = name.len().min(LONGEST_API);
    match name[..end].trim_end_matches('-') {
        "" => "api".to_owned(),
        name => name.to_owned(),
    }
}

/// Whether an API can have that name.
pub(crate) fn is_api_name(name: &str) -> bool {
    (1..=LONGEST_API).contains(&name.len())
        && name.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-' | b'.'))
}

/// The name of a parameter as every client takes it: other characters become `_`.
pub(crate) fn parameter(name: &str) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.') { c } else { '_' };
    name.chars().take(LONGEST).map(plain).collect()
}

/// A name as those of environment variables are: `PETSTORE_API_KEY`.
pub(crate) fn upper(parts: &[&str]) -> String {
    let words: Vec<String> = parts.iter().map(|part| kebab(part).replace('-', "_").to_uppercase()).collect();
    let name = words.into_iter().filter(|word| !word.is_empty()).collect::<Vec<_>>().join("_");
    name.chars().take(100).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(operations: &[(&str, &str)]) -> Vec<String> {
        of_operations(
            operations.iter().map(|(id, at)| (Some(*id).filter(|id| !id.is_empty()), at.to_string())),
        )
    }

    #[test]
    fn names_are_kebab_case_of_the_id_or_of_method_and_path() {
        let operations = [
            ("listPets", "GET /pets"),
            ("repos/get-content", "GET /repos/{x}"),
            ("getHTTPUser2Fa", "GET /u"),
            ("", "DELETE /pets/{petId}"),
            ("put_files_id_content#v2", "PUT /f"),
        ];
        assert_eq!(
            names(&operations),
            [
                "list-pets",
                "repos-get-content",
                "get-http-user2-fa",
                "delete-pets-pet-id",
                "put-files-id-content-v2"
            ]
        );
    }

    #[test]
    fn names_that_clash_or_are_too_long_end_in_a_hash_of_the_operation_whatever_the_order() {
        let long = "a".repeat(80);
        let one = names(&[("getUser", "GET /a"), ("get_user", "GET /b"), (&long, "GET /c")]);
        let other = names(&[(&long, "GET /c"), ("get_user", "GET /b"), ("getUser", "GET /a")]);
        assert_eq!(one.iter().rev().collect::<Vec<_>>(), other.iter().collect::<Vec<_>>());
        assert!(one[0].starts_with("get-user-") && one[0] != one[1], "{one:?}");
        assert_eq!(one[2].len(), 64);
    }

    #[test]
    fn an_api_is_named_after_its_title() {
        assert_eq!(api_name("GitHub v3 REST API"), "github-v3-rest-api");
        assert_eq!(api_name("日本"), "api");
        assert_eq!(upper(&["pet-store", "ApiKeyAuth"]), "PET_STORE_API_KEY_AUTH");
    }
}
