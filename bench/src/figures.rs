//! A table of figures, each beside the limit that it must keep.

/// Which side of the limit is the good one.
#[derive(Clone, Copy)]
pub enum Limit {
    AtMost(f64),
    AtLeast(f64),
    /// Shown for the record.
    None,
}

/// Prints the head of a part of the table.
pub fn heading(what: &str) {
    println!("\n{what:<72} {:>12} {:>14}", "measured", "limit");
}

/// Prints one figure, and says so if it misses its limit.
pub fn line(what: &str, value: f64, unit: &str, limit: Limit) {
    let measured = format!("{} {unit}", short(value));
    let (bound, verdict) = match limit {
        Limit::AtMost(most) => {
            (format!("<= {} {unit}", short(most)), if value <= most { "" } else { "  OVER" })
        }
        Limit::AtLeast(least) => {
            (format!(">= {} {unit}", short(least)), if value >= least { "" } else { "  UNDER" })
        }
        Limit::None => (String::new(), ""),
    };
    println!("  {what:<70} {measured:>12} {bound:>14}{verdict}");
}

/// Three digits that count.
fn short(value: f64) -> String {
    match value.abs() {
        size if size >= 100.0 => format!("{value:.0}"),
        size if size >= 10.0 => format!("{value:.1}"),
        _ => format!("{value:.2}"),
    }
}
