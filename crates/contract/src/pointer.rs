//! JSON pointers: their tokens, and how references spell them.

/// The name as one token of a pointer.
pub fn token(name: &str) -> String {
    name.replace('~', "~0").replace('/', "~1")
}

/// The name that a token stands for.
pub fn name(token: &str) -> String {
    token.replace("~1", "/").replace("~0", "~")
}

/// A fragment of a reference, with its percent signs resolved.
pub fn unescaped(fragment: &str) -> String {
    let mut bytes = Vec::with_capacity(fragment.len());
    let mut rest = fragment.as_bytes();
    while let [first, tail @ ..] = rest {
        let digits = tail.get(..2).filter(|_| *first == b'%').and_then(|digits| str::from_utf8(digits).ok());
        match digits.and_then(|digits| u8::from_str_radix(digits, 16).ok()) {
            Some(byte) => {
                bytes.push(byte);
                rest = &tail[2..];
            }
            None => {
                bytes.push(*first);
                rest = tail;
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}
