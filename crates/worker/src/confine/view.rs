//! What a box shows of the host: programs and libraries, and the few settings that they read.

/// Folders of the system's programs. Those that are links on the host are links in the box.
pub(super) const SYSTEM: [&str; 8] =
    ["/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/nix/store"];

/// Of /etc: what the loader, time zones and file types need. Root could read secrets in the rest.
pub(super) const ETC: [&str; 7] = [
    "/etc/ld.so.cache",
    "/etc/ld.so.conf",
    "/etc/ld.so.conf.d",
    "/etc/alternatives",
    "/etc/localtime",
    "/etc/timezone",
    "/etc/mime.types",
];

/// Of /etc besides, for a program that may use the network: names and certificates.
pub(super) const ETC_FOR_NETWORK: [&str; 6] =
    ["/etc/resolv.conf", "/etc/hosts", "/etc/ssl", "/etc/pki", "/etc/ca-certificates", "/etc/services"];

pub(super) const DEVICES: [&str; 5] = ["/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom"];

/// Files that identify the program's user, without information about the host.
pub(super) fn written(user: u32, network: bool) -> Vec<(&'static str, String)> {
    let mut files = vec![
        (
            "etc/passwd",
            format!(
                "root:x:0:0:root:/:/usr/sbin/nologin\n\
                 code:x:{user}:{user}:code:/box/work:/bin/sh\n\
                 nobody:x:65534:65534:nobody:/:/usr/sbin/nologin\n"
            ),
        ),
        ("etc/group", format!("root:x:0:\ncode:x:{user}:\nnogroup:x:65534:\n")),
        ("etc/nsswitch.conf", "passwd: files\ngroup: files\nhosts: files dns\n".to_owned()),
    ];
    if !network {
        files.push(("etc/hosts", "127.0.0.1 localhost\n".to_owned()));
    }
    files
}
