//! Processes, as `/proc` shows them.

use std::fs;
use std::path::Path;

/// Processes that work in a home, or were started with a path of it, servers and commands aside.
pub fn of_home(home: &Path) -> Vec<String> {
    let home = home.canonicalize().unwrap_or_else(|_| home.to_owned());
    let names =
        fs::read_dir("/proc").unwrap().flatten().filter_map(|entry| entry.file_name().into_string().ok());
    names
        .filter(|name| name.bytes().all(|byte| byte.is_ascii_digit()))
        .filter(|pid| {
            let cwd = fs::read_link(format!("/proc/{pid}/cwd")).unwrap_or_default();
            let line = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
            let line = String::from_utf8_lossy(&line);
            let command = fs::read_to_string(format!("/proc/{pid}/comm")).unwrap_or_default();
            let ours = command.starts_with("toolroom") || command.starts_with("strace");
            !ours && (cwd.starts_with(&home) || line.contains(&*home.to_string_lossy()))
        })
        .collect()
}

/// The memory of a process that is in RAM, in KiB.
pub fn resident_kib(pid: u32) -> u64 {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
    line.split_whitespace().next().unwrap().parse().unwrap()
}

/// How many files a process has open.
pub fn open_files(pid: u32) -> usize {
    fs::read_dir(format!("/proc/{pid}/fd")).unwrap().count()
}

/// Children of a process that have ended and that nobody has waited for.
pub fn zombies_of(pid: u32) -> usize {
    let of = format!("Z {pid} ");
    let stats = fs::read_dir("/proc")
        .unwrap()
        .flatten()
        .filter_map(|entry| fs::read_to_string(entry.path().join("stat")).ok());
    stats.filter(|stat| stat.rsplit_once(") ").is_some_and(|(_, rest)| rest.starts_with(&of))).count()
}
