//! The words that patterns are made of, which are data: `words.txt`.

use std::collections::HashMap;
use std::sync::LazyLock;

static SECTIONS: LazyLock<HashMap<&'static str, Vec<&'static str>>> = LazyLock::new(|| {
    let mut sections: HashMap<&str, Vec<&str>> = HashMap::new();
    let mut name = "";
    for line in include_str!("words.txt").lines().filter(|line| !line.is_empty() && !line.starts_with("# ")) {
        match line.strip_prefix('[').and_then(|line| line.strip_suffix(']')) {
            Some(heading) => name = heading,
            None => sections.entry(name).or_default().push(line),
        }
    }
    sections
});

/// The patterns of a section.
pub(crate) fn patterns(section: &str) -> &'static [&'static str] {
    SECTIONS.get(section).map(Vec::as_slice).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::SECTIONS;

    #[test]
    fn every_section_is_used_and_every_one_that_is_used_is_there() {
        let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
        let files = ["act", "read"].iter().flat_map(|name| std::fs::read_dir(folder.join(name)).unwrap());
        let sources: String =
            files.map(|file| std::fs::read_to_string(file.unwrap().path()).unwrap()).collect();
        let is_named = |name: &&str| sources.contains(&format!("\"{name}\""));
        let mut used: Vec<&str> =
            sources.split("patterns(\"").skip(1).filter_map(|rest| rest.split('"').next()).collect();
        used.extend(SECTIONS.keys().copied().filter(is_named));
        let mut there: Vec<&str> = SECTIONS.keys().copied().collect();
        used.sort_unstable();
        used.dedup();
        there.sort_unstable();
        assert_eq!(used, there);
    }
}
