//! What this kernel can hold code back with.

use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

use landlock::{
    ABI, Access, AccessFs, AccessNet, CompatLevel, Compatible, PathBeneath, PathFd, Ruleset, RulesetAttr,
    RulesetCreatedAttr, RulesetError, Scope,
};
use serde::Serialize;

use crate::child_setup::{self, Confinement, Namespaces};

use super::filter;

/// Folders and files of the system that code may read. Not all of /etc: root could read its secrets there.
const READABLE: [&str; 18] = [
    "/bin",
    "/sbin",
    "/usr",
    "/lib",
    "/lib32",
    "/lib64",
    "/nix/store",
    "/etc/ld.so.cache",
    "/etc/ld.so.conf",
    "/etc/ld.so.conf.d",
    "/etc/alternatives",
    "/etc/localtime",
    "/etc/timezone",
    "/etc/passwd",
    "/etc/group",
    "/etc/nsswitch.conf",
    "/etc/mime.types",
    "/dev/urandom",
];
const DEVICES: [&str; 4] = ["/dev/null", "/dev/zero", "/dev/random", "/dev/full"];

/// What holds code back here. Part of every result, so that nobody has to guess.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct InForce {
    /// The version of Landlock; 0 is none.
    pub landlock: i32,
    /// Files: the system's programs can be read, the working folder be written, nothing else.
    pub files: bool,
    /// TCP is denied by Landlock.
    pub tcp: bool,
    /// Processes outside cannot be signalled.
    pub signals: bool,
    /// There is no network but an empty one.
    pub network_namespace: bool,
    /// Sockets cannot be made.
    pub sockets: bool,
    /// The number of processes is bounded.
    pub processes: bool,
}

impl InForce {
    /// Whether code has no way to any network.
    pub fn no_network(&self) -> bool {
        self.network_namespace || self.sockets
    }

    /// Landlock and the filter, as far as the kernel has them; namespaces are found out by trying.
    pub(crate) fn of_kernel() -> Self {
        let landlock = child_setup::landlock_version();
        Self {
            landlock,
            files: landlock >= 1,
            tcp: landlock >= 4,
            signals: landlock >= 6,
            network_namespace: false,
            sockets: !filter::program().is_empty(),
            processes: crate::Containment::probe().bounds_processes(),
        }
    }

    /// The confinement for code that works in `workdir` and may read `readable` besides the system.
    pub(crate) fn confinement(
        &self,
        workdir: &Path,
        readable: &[PathBuf],
    ) -> Result<Confinement, RulesetError> {
        Ok(Confinement {
            namespaces: self.network_namespace.then(namespaces),
            landlock: if self.files { rules(workdir, readable)? } else { None },
            filter: if self.sockets { filter::program() } else { Vec::new() },
        })
    }
}

/// Namespaces as this user can have them.
pub(crate) fn namespaces() -> Namespaces {
    let user = rustix::process::geteuid();
    if user.is_root() {
        return Namespaces::Privileged;
    }
    let (user, group) = (user.as_raw(), rustix::process::getegid().as_raw());
    Namespaces::User { users: format!("{user} {user} 1"), groups: format!("{group} {group} 1") }
}

fn rules(workdir: &Path, readable: &[PathBuf]) -> Result<Option<OwnedFd>, RulesetError> {
    let abi = ABI::V6;
    let read = AccessFs::from_read(abi);
    let mut rules = Ruleset::default()
        .set_compatibility(CompatLevel::BestEffort)
        .handle_access(AccessFs::from_all(abi))?
        .handle_access(AccessNet::from_all(abi))?
        .scope(Scope::from_all(abi))?
        .create()?;
    let readable = READABLE.iter().map(Path::new).chain(readable.iter().map(PathBuf::as_path));
    for path in readable {
        rules = allow(rules, path, read)?;
    }
    for device in DEVICES {
        rules = allow(rules, Path::new(device), AccessFs::ReadFile | AccessFs::WriteFile)?;
    }
    let all_but_devices =
        AccessFs::from_all(abi) & !(AccessFs::MakeChar | AccessFs::MakeBlock | AccessFs::IoctlDev);
    rules = allow(rules, workdir, all_but_devices)?;
    Ok(rules.into())
}

/// Allows access below a path, if it exists: no rule is the same as no such path.
fn allow(
    rules: landlock::RulesetCreated,
    path: &Path,
    access: landlock::BitFlags<AccessFs>,
) -> Result<landlock::RulesetCreated, RulesetError> {
    let Ok(place) = PathFd::new(path) else { return Ok(rules) };
    let access = if path.is_dir() { access } else { access & AccessFs::from_file(ABI::V6) };
    rules.add_rule(PathBeneath::new(place, access))
}
