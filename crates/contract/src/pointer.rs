//! The tokens of JSON pointers.

/// The name as one token of a pointer.
pub fn token(name: &str) -> String {
    name.replace('~', "~0").replace('/', "~1")
}

/// The name that a token stands for.
pub fn name(token: &str) -> String {
    token.replace("~1", "/").replace("~0", "~")
}
