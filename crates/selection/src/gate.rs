//! The gate: what kind of wish a prompt is. `training/gate.py` makes the same features; keep them alike.

use crate::table::{BUCKETS, LABELS, Table};
use crate::text::{self, Vector};

/// Words whose features are looked at.
const WORDS_READ: usize = 40;
/// Words that the vectors of the beginning and of the end are made of.
const HEAD: usize = 4;
const TAIL: usize = 3;
const DENSE_SCALE: f32 = 3.0;
const WORD_SCALE: f32 = 2.5;
const LETTER_SCALE: f32 = 1.2;

/// What a prompt asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Class {
    /// Something about the user's tasks.
    Tasks,
    /// What only the web knows: what is current, or was asked to be looked up.
    Web,
    /// A computation or a look at files, best done by running code.
    Code,
    /// Too little to act on, or a decision that is a person's.
    Human,
    /// Talk, or knowledge that needs no tool.
    None,
}

impl Class {
    /// Every class.
    pub const ALL: [Self; 5] = [Self::Tasks, Self::Web, Self::Code, Self::Human, Self::None];

    /// As the files in `eval/` write it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Tasks => "tasks",
            Self::Web => "web",
            Self::Code => "code",
            Self::Human => "human",
            Self::None => "none",
        }
    }
}

/// What is to be done with tasks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Intent {
    /// Make a task.
    Create,
    /// See several.
    List,
    /// Mark as done, or not done after all.
    Complete,
    /// Remove.
    Delete,
    /// Change fields.
    Update,
    /// Find by words.
    Find,
    /// Read one by its number.
    Get,
    /// Bring back what was deleted.
    Restore,
}

impl Intent {
    /// Every intent, in the order of the gate's labels.
    pub const ALL: [Self; 8] = [
        Self::Create,
        Self::List,
        Self::Complete,
        Self::Delete,
        Self::Update,
        Self::Find,
        Self::Get,
        Self::Restore,
    ];

    /// As the files in `eval/` write it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Create => "create",
            Self::List => "list",
            Self::Complete => "complete",
            Self::Delete => "delete",
            Self::Update => "update",
            Self::Find => "find",
            Self::Get => "get",
            Self::Restore => "restore",
        }
    }

    /// Whether it changes something.
    pub const fn changes(self) -> bool {
        !matches!(self, Self::List | Self::Find | Self::Get)
    }
}

/// How likely each kind of wish is; the sum over classes is 1.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Chances {
    labels: [f32; LABELS],
}

impl Chances {
    /// Reads a prompt that is cut into words already; `whole` is its vector.
    pub(crate) fn of(table: &Table, words: &[String], whole: &Vector) -> Self {
        let mut scores = table.bias();
        let head = text::vector(table, words.get(..HEAD.min(words.len())).unwrap_or_default());
        let tail = text::vector(table, words.get(words.len().saturating_sub(TAIL)..).unwrap_or_default());
        for (feature, value) in whole.iter().chain(&head).chain(&tail).enumerate() {
            table.add_dense(feature, DENSE_SCALE * value, &mut scores);
        }
        let (mut word_features, mut letter_features) = features(words);
        for (buckets, scale) in [(&mut word_features, WORD_SCALE), (&mut letter_features, LETTER_SCALE)] {
            buckets.sort_unstable();
            buckets.dedup();
            let value = scale / (buckets.len() as f32).sqrt();
            buckets.iter().for_each(|bucket| table.add_bucket(*bucket, value, &mut scores));
        }
        let warmth = table.tuned(0).max(0.1);
        let most = scores.iter().copied().fold(f32::MIN, f32::max);
        let mut labels = scores.map(|score| ((score - most) / warmth).exp());
        let sum: f32 = labels.iter().sum();
        labels.iter_mut().for_each(|one| *one /= sum);
        Self { labels }
    }

    /// How likely a class is.
    pub fn class(&self, class: Class) -> f64 {
        let at = |label: usize| f64::from(self.labels[label]);
        match class {
            Class::Tasks => (0..8).map(at).sum(),
            Class::Web => at(8),
            Class::Code => at(9),
            Class::Human => at(10),
            Class::None => at(11),
        }
    }

    /// How likely it is a wish about tasks, and this one.
    pub fn intent(&self, intent: Intent) -> f64 {
        f64::from(self.labels[intent as usize])
    }

    /// The likeliest class.
    pub fn best_class(&self) -> Class {
        let order = |a: &Class, b: &Class| self.class(*a).total_cmp(&self.class(*b)).then(b.cmp(a));
        Class::ALL.into_iter().max_by(order).unwrap_or(Class::Human)
    }

    /// The likeliest intent, if it is about tasks.
    pub fn best_intent(&self) -> Intent {
        let order = |a: &Intent, b: &Intent| self.intent(*a).total_cmp(&self.intent(*b)).then(b.cmp(a));
        Intent::ALL.into_iter().max_by(order).unwrap_or(Intent::List)
    }
}

/// The buckets of the features of words and of letters; they may repeat.
fn features(words: &[String]) -> (Vec<usize>, Vec<usize>) {
    let is_number = |word: &String| word.bytes().all(|byte| byte.is_ascii_digit());
    let mut framed = vec!["^"];
    framed.extend(words.iter().take(WORDS_READ).map(|word| if is_number(word) { "#" } else { word }));
    let count = framed.len() - 1;
    framed.push("$");
    let mut found = vec![bucket(&["n ", length_step(count)])];
    let real = framed.get(1..=count).unwrap_or_default();
    found.extend(real.iter().map(|word| bucket(&["1 ", word])));
    found.extend(framed.windows(2).map(|pair| bucket(&["2 ", pair[0], " ", pair[1]])));
    found.extend(framed.windows(3).map(|run| bucket(&["3 ", run[0], " ", run[1], " ", run[2]])));
    let mut letters = Vec::new();
    for word in real {
        if word.chars().count() >= 4 && word.chars().all(char::is_alphabetic) {
            let edged: Vec<char> = std::iter::once('<').chain(word.chars()).chain(['>']).collect();
            letters.extend(edged.windows(4).map(|run| bucket(&["c ", &run.iter().collect::<String>()])));
        }
    }
    (found, letters)
}

fn length_step(count: usize) -> &'static str {
    match count {
        0..=1 => "0",
        2 => "1",
        3 => "2",
        4 => "3",
        5..=6 => "4",
        7..=9 => "5",
        10..=14 => "6",
        15..=24 => "7",
        _ => "8",
    }
}

/// FNV-1a over the parts, folded to a bucket.
fn bucket(parts: &[&str]) -> usize {
    let mut value: u32 = 0x811C_9DC5;
    for byte in parts.iter().flat_map(|part| part.bytes()) {
        value = (value ^ u32::from(byte)).wrapping_mul(0x0100_0193);
    }
    value ^= value >> 15;
    value as usize % BUCKETS
}
