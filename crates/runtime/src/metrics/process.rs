//! What the system knows of this process, under the names that every Prometheus client uses; and which build it is.

use std::fmt::Write;
use std::fs;

/// Adds the meters. What the system does not tell is left out.
pub(super) fn write(text: &mut String) {
    let mut meter = |name: &str, help: &str, kind: &str, value: Option<f64>| {
        let Some(value) = value else { return };
        let suffix = if kind == "counter" { "_total" } else { "" };
        // Writing to a String cannot fail.
        let _ = writeln!(text, "# HELP {name} {help}.\n# TYPE {name} {kind}\n{name}{suffix} {value}");
    };
    let stat = fs::read_to_string("/proc/self/stat").unwrap_or_default();
    // The name of the program before them may hold spaces.
    let fields: Vec<&str> = stat.rsplit(')').next().unwrap_or_default().split_whitespace().collect();
    let field = |number: usize| fields.get(number - 3).and_then(|field| field.parse::<f64>().ok());
    let ticks = rustix::param::clock_ticks_per_second() as f64;
    let page = rustix::param::page_size() as f64;
    let cpu = field(14).zip(field(15)).map(|(user, system)| (user + system) / ticks);
    let started = field(22).zip(boot_time()).map(|(since, boot)| boot + since / ticks);
    let open = fs::read_dir("/proc/self/fd").ok().map(|entries| entries.count() as f64);
    meter("process_cpu_seconds", "Processor time of user and system", "counter", cpu);
    meter("process_resident_memory_bytes", "Memory in use", "gauge", field(24).map(|pages| pages * page));
    meter("process_virtual_memory_bytes", "Memory that is mapped", "gauge", field(23));
    meter("process_threads", "Threads", "gauge", field(20));
    meter("process_open_fds", "Open files and sockets", "gauge", open);
    meter("process_max_fds", "Files and sockets that may be open", "gauge", most_open());
    meter("process_start_time_seconds", "When it started, since 1970", "gauge", started);
    let version = env!("CARGO_PKG_VERSION");
    let _ = writeln!(
        text,
        "# HELP toolroom_build_info Which build this is.\n# TYPE toolroom_build_info gauge\n\
         toolroom_build_info{{version=\"{version}\"}} 1"
    );
}

fn boot_time() -> Option<f64> {
    let stat = fs::read_to_string("/proc/stat").ok()?;
    stat.lines().find_map(|line| line.strip_prefix("btime "))?.trim().parse().ok()
}

fn most_open() -> Option<f64> {
    let limits = fs::read_to_string("/proc/self/limits").ok()?;
    let line = limits.lines().find_map(|line| line.strip_prefix("Max open files"))?;
    line.split_whitespace().next()?.parse().ok()
}
