//! `requires-python` of a script: which versions of Python it takes, as PEP 440 writes that.

use std::fmt;

/// Conditions that all must be met, such as `>=3.10,<4`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct PythonVersions {
    text: String,
    conditions: Vec<Condition>,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Condition {
    operator: &'static str,
    version: Vec<u32>,
    /// `==3.11.*`: only the numbers that are written count.
    is_prefix: bool,
}

/// Longer ones first: `>=` begins with `>`.
const OPERATORS: [&str; 8] = ["===", "~=", "==", "!=", "<=", ">=", "<", ">"];

impl PythonVersions {
    /// Reads conditions; none if they are not such.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let parts = text.split(',').map(str::trim).filter(|part| !part.is_empty());
        let conditions: Option<Vec<Condition>> = parts.map(Condition::parse).collect();
        Some(Self { text: text.trim().to_owned(), conditions: conditions? })
    }

    /// Whether this version is one of them.
    pub(crate) fn take(&self, version: &[u32]) -> bool {
        self.conditions.iter().all(|condition| condition.is_met(version))
    }
}

impl fmt::Display for PythonVersions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl Condition {
    fn parse(text: &str) -> Option<Self> {
        let operator = OPERATORS.into_iter().find(|operator| text.starts_with(operator))?;
        let written = text[operator.len()..].trim();
        let (written, is_prefix) = match written.strip_suffix(".*") {
            Some(rest) if matches!(operator, "==" | "!=") => (rest, true),
            Some(_) => return None,
            None => (written, false),
        };
        let version: Option<Vec<u32>> = written.split('.').map(|number| number.parse().ok()).collect();
        let version = version.filter(|version| operator != "~=" || version.len() > 1)?;
        Some(Self { operator, version, is_prefix })
    }

    fn is_met(&self, version: &[u32]) -> bool {
        let wanted = &self.version;
        let starts = |wanted: &[u32]| filled(version, wanted.len())[..wanted.len()] == *wanted;
        let length = version.len().max(wanted.len());
        let order = filled(version, length).cmp(&filled(wanted, length));
        match self.operator {
            "==" | "===" if self.is_prefix => starts(wanted),
            "!=" if self.is_prefix => !starts(wanted),
            "==" | "===" => order.is_eq(),
            "!=" => order.is_ne(),
            "<=" => order.is_le(),
            ">=" => order.is_ge(),
            "<" => order.is_lt(),
            ">" => order.is_gt(),
            // `~=3.11.2`: at least that, within 3.11.
            _ => order.is_ge() && starts(&wanted[..wanted.len() - 1]),
        }
    }
}

/// 3.11 is 3.11.0.
fn filled(version: &[u32], length: usize) -> Vec<u32> {
    let mut filled = version.to_vec();
    filled.resize(length.max(version.len()), 0);
    filled
}

#[cfg(test)]
mod tests {
    use super::PythonVersions;

    #[test]
    fn versions_are_taken_as_packaging_takes_them() {
        let cases = [
            (">=3.9", true),
            (">=3.11.7", true),
            (">3.11.7", false),
            (">=3.12", false),
            ("<4", true),
            (">=3.9, <3.11", false),
            ("==3.11.*", true),
            ("== 3.12.*", false),
            ("!=3.11.*", false),
            ("~=3.10", true),
            ("~=3.11.8", false),
            ("~=3.10.0", false),
            ("==3.11", false),
            ("", true),
        ];
        for (text, taken) in cases {
            assert_eq!(PythonVersions::parse(text).unwrap().take(&[3, 11, 7]), taken, "{text}");
        }
        for bad in ["3.11", ">=three", "~=3", ">=3.*", ">="] {
            assert_eq!(PythonVersions::parse(bad), None, "{bad}");
        }
    }
}
