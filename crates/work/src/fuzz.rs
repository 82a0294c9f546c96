//! Hostile texts for the tests of readers: made of the words that a reader knows, by a seed, so that every failure can
//! be repeated.
//!
//! A target reads text after text and compares the steps of each with its length. An ordinary run is a sample; with
//! `TOOLROOM_SOAK=1` it goes on for ten minutes, with a larger number for that many texts.

use std::time::{Duration, Instant};

/// How long a target runs in a soak.
const SOAK: Duration = Duration::from_secs(600);

/// How long this process has been on a processor: unlike a clock, it does not count the work of others.
///
/// # Panics
/// Where there is no `/proc`: this is for tests.
#[allow(clippy::unwrap_used, reason = "for tests")]
pub fn time_on_processor() -> Duration {
    let statistics = std::fs::read_to_string("/proc/self/stat").unwrap();
    // The name in parentheses may hold anything; the times are the 12th and 13th field after it, in ticks of 10 ms.
    let fields = statistics.rsplit(')').next().unwrap().split_whitespace();
    let ticks: u64 = fields.skip(11).take(2).map(|ticks| ticks.parse::<u64>().unwrap()).sum();
    Duration::from_millis(ticks * 10)
}

/// What is known of a reader that is under test.
#[derive(Clone, Copy, Debug)]
pub struct Target<'a> {
    /// The reader, for messages.
    pub name: &'a str,
    /// Words and signs that mean something to the reader.
    pub words: &'a [&'a str],
    /// Texts in an ordinary run of the tests.
    pub sample: u64,
    /// The longest text, in bytes.
    pub longest: usize,
    /// Steps that any text may take.
    pub fixed: u64,
    /// Steps that each byte may take beyond that.
    pub per_byte: u64,
}

impl Target<'_> {
    /// Reads hostile texts, and fails with the text that took more steps than its length allows.
    ///
    /// # Panics
    /// If a text took too many steps: this is for tests.
    #[allow(clippy::panic, reason = "the verdict of a test")]
    pub fn run(&self, mut read: impl FnMut(&str)) {
        let soak = std::env::var("TOOLROOM_SOAK").ok();
        let texts = soak.as_deref().and_then(|soak| soak.parse().ok()).filter(|texts| *texts > 1);
        let end = Instant::now() + SOAK;
        let mut counts = false;
        let mut seed = 0;
        while match (&soak, texts) {
            (None, _) => seed < self.sample,
            (Some(_), Some(texts)) => seed < texts,
            (Some(_), None) => Instant::now() < end,
        } {
            let text = Maker::new(seed).text(self);
            let ((), taken) = crate::counted(|| read(&text));
            let most = self.fixed + self.per_byte * text.len() as u64;
            if taken > most {
                let start: String = text.chars().take(200).collect();
                panic!(
                    "{}: seed {seed}, {} bytes took {taken} steps, at most {most} are allowed: {start:?}",
                    self.name,
                    text.len()
                );
            }
            counts |= taken > 0;
            seed += 1;
        }
        // A reader that counts nothing would pass every bound.
        assert!(counts, "{}: no step was counted in {seed} texts", self.name);
    }
}

/// Makes texts of a seed.
#[derive(Clone, Copy, Debug)]
pub struct Maker(u64);

/// Characters that readers stumble over.
const ODD: [&str; 28] = [
    " ",
    "\n",
    "\t",
    "\r\n",
    "\"",
    "'",
    "`",
    "\\",
    ",",
    ";",
    ":",
    ".",
    "-",
    "(",
    "[",
    "{",
    "}",
    "<",
    "&",
    "=",
    "#",
    "0",
    "9",
    "\u{e9}",
    "\u{65e5}",
    "\u{1f600}",
    "\u{200d}",
    "\u{0}",
];

impl Maker {
    /// A maker whose texts depend on the seed alone.
    pub fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ 0x1234_5678_9abc_def1)
    }

    /// A text for a target: a word again and again, a few words in turn, a nest, or a mixture.
    pub fn text(&mut self, target: &Target<'_>) -> String {
        let length = self.length(target.longest);
        let glue = self.of(&["", " ", " ", " ", ",", "\n"]);
        let mut text = String::new();
        match self.below(6) {
            0 => self.repeated(&mut text, target, 1, glue, length),
            1 => self.repeated(&mut text, target, 2, glue, length),
            2 => {
                let count = 3 + self.below(6);
                self.repeated(&mut text, target, count, glue, length);
            }
            3 => {
                // Opened again and again, never closed.
                let open = self.word(target).to_owned();
                while text.len() < length / 2 {
                    text.push_str(&open);
                }
                self.repeated(&mut text, target, 1, glue, length);
            }
            4 => {
                self.repeated(&mut text, target, 4, glue, length / 2);
                self.repeated(&mut text, target, 1, " ", length);
            }
            _ => {
                while text.len() < length {
                    let word = self.word(target).to_owned();
                    text.push_str(&word);
                    text.push_str(self.of(&["", " ", " ", glue]));
                }
            }
        }
        cut(&mut text, target.longest);
        text
    }

    fn repeated(&mut self, text: &mut String, target: &Target<'_>, count: usize, glue: &str, length: usize) {
        let words: Vec<String> = (0..count).map(|_| self.word(target).to_owned()).collect();
        let mut at = 0;
        while text.len() < length {
            text.push_str(&words[at % words.len()]);
            text.push_str(glue);
            at += 1;
        }
    }

    fn word<'a>(&mut self, target: &Target<'a>) -> &'a str {
        if self.below(5) == 0 { self.of(&ODD) } else { self.of(target.words) }
    }

    /// Mostly long texts: only there does the order of growth show.
    fn length(&mut self, longest: usize) -> usize {
        match self.below(4) {
            0 => self.below(longest / 20 + 1),
            1 => self.below(longest + 1),
            _ => longest,
        }
    }

    fn of<'a, T: ?Sized>(&mut self, all: &[&'a T]) -> &'a T {
        all[self.below(all.len())]
    }

    /// A number below another, by xorshift.
    pub fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as usize % bound.max(1)
    }
}

fn cut(text: &mut String, longest: usize) {
    let mut end = longest.min(text.len());
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    text.truncate(end);
}
