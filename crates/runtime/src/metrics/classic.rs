//! The classic text format, version 0.0.4, made from OpenMetrics: the same samples under other headings.

/// The text for a scraper that does not speak OpenMetrics.
pub(super) fn of(text: &str) -> String {
    let mut classic = String::with_capacity(text.len());
    let mut help = ("", "");
    for line in text.lines() {
        if let Some(rest) = line.strip_prefix("# HELP ") {
            help = rest.split_once(' ').unwrap_or((rest, ""));
        } else if let Some((name, kind)) = line.strip_prefix("# TYPE ").and_then(|rest| rest.split_once(' '))
        {
            // A counter's heading names its samples there.
            let suffix = if kind == "counter" { "_total" } else { "" };
            let help = if help.0 == name { help.1 } else { "" };
            classic.push_str(&format!("# HELP {name}{suffix} {help}\n# TYPE {name}{suffix} {kind}\n"));
        } else if !line.starts_with('#') {
            classic.push_str(line);
            classic.push('\n');
        }
    }
    classic
}

#[cfg(test)]
mod tests {
    #[test]
    fn counters_are_named_by_their_samples_and_the_end_is_not_marked() {
        let open = "# HELP a_calls Calls.\n# TYPE a_calls counter\na_calls_total{x=\"1\"} 2\n# HELP b_seconds B.\n\
                    # TYPE b_seconds gauge\n# UNIT b_seconds seconds\nb_seconds 3\n# EOF\n";
        let classic = "# HELP a_calls_total Calls.\n# TYPE a_calls_total counter\na_calls_total{x=\"1\"} 2\n\
                       # HELP b_seconds B.\n# TYPE b_seconds gauge\nb_seconds 3\n";
        assert_eq!(super::of(open), classic);
    }
}
