//! Which tools of a server are taken: allow and deny lists with `*` and `?`.

/// Allow and deny lists of tool names. What is denied is denied, allowed or not.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ToolFilter {
    allow: Option<Vec<String>>,
    deny: Vec<String>,
}

impl ToolFilter {
    /// Without an allow list, every tool that is not denied is taken.
    pub fn new(allow: Option<Vec<String>>, deny: Vec<String>) -> Self {
        Self { allow, deny }
    }

    /// Whether a tool is taken, by the name that its server gave it.
    pub fn takes(&self, tool: &str) -> bool {
        let named = |list: &[String]| list.iter().any(|pattern| fits(pattern.as_bytes(), tool.as_bytes()));
        self.allow.as_deref().is_none_or(named) && !named(&self.deny)
    }
}

/// `*` is any run of characters, `?` any one byte. The last `*` is where a mismatch starts over, so the
/// time taken is at most the product of both lengths.
fn fits(pattern: &[u8], text: &[u8]) -> bool {
    let (mut p, mut t) = (0, 0);
    let mut star: Option<(usize, usize)> = None;
    while t < text.len() {
        toolroom_work::step(1);
        match pattern.get(p) {
            Some(b'*') => {
                star = Some((p, t));
                p += 1;
            }
            Some(b'?') => (p, t) = (p + 1, t + 1),
            Some(byte) if *byte == text[t] => (p, t) = (p + 1, t + 1),
            _ => match star {
                Some((at, seen)) => {
                    star = Some((at, seen + 1));
                    (p, t) = (at + 1, seen + 1);
                }
                None => return false,
            },
        }
    }
    pattern[p..].iter().all(|byte| *byte == b'*')
}

#[cfg(test)]
mod tests {
    use super::{ToolFilter, fits};

    #[test]
    fn patterns_fit_whole_names() {
        for (pattern, text, fit) in [
            ("read_*", "read_file", true),
            ("read_*", "pre_read_file", false),
            ("*file*", "read_file_now", true),
            ("?et", "get", true),
            ("?et", "et", false),
            ("*", "", true),
            ("", "x", false),
            ("a*b*c", "a-b-b-c", true),
            ("a*b*c", "a-c-b", false),
        ] {
            assert_eq!(fits(pattern.as_bytes(), text.as_bytes()), fit, "{pattern} on {text}");
        }
    }

    #[test]
    fn promise_a_name_is_compared_with_a_pattern_in_the_product_of_their_lengths() {
        let pattern = "*a".repeat(50) + "b";
        let target = toolroom_work::fuzz::Target {
            name: "allow and deny lists",
            words: &["a", "aa", "b", "*", "?", "_", "read_file"],
            sample: 300,
            longest: 5_000,
            fixed: 300,
            per_byte: 220,
        };
        target.run(|name| {
            fits(pattern.as_bytes(), name.as_bytes());
            fits(&name.as_bytes()[..name.len().min(100)], name.as_bytes());
        });
    }

    #[test]
    fn deny_wins_over_allow() {
        let filter = ToolFilter::new(Some(vec!["read_*".into()]), vec!["*_secret".into()]);
        assert!(filter.takes("read_file"));
        assert!(!filter.takes("read_secret"));
        assert!(!filter.takes("write_file"));
        assert!(ToolFilter::default().takes("anything"));
        assert!(!ToolFilter::new(Some(Vec::new()), Vec::new()).takes("anything"));
    }
}
