//! Landlock: the second barrier of the full level, the first of the partial one.

use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

use landlock::{
    ABI, Access, AccessFs, AccessNet, CompatLevel, Compatible, PathBeneath, PathFd, Ruleset, RulesetAttr,
    RulesetCreatedAttr, RulesetError, Scope,
};

use super::view;

/// What the rules allow.
pub(super) struct Allowed<'a> {
    /// Where folders can be listed, though not read.
    pub(super) list: Option<&'a Path>,
    pub(super) read: &'a [PathBuf],
    pub(super) write: &'a [PathBuf],
    pub(super) network: bool,
}

/// The rules; `None` if the kernel has no Landlock.
pub(super) fn make(allowed: &Allowed<'_>) -> Result<Option<OwnedFd>, RulesetError> {
    let abi = ABI::V6;
    let read = AccessFs::from_read(abi);
    let mut rules = Ruleset::default()
        .set_compatibility(CompatLevel::BestEffort)
        .handle_access(AccessFs::from_all(abi))?;
    if !allowed.network {
        rules = rules.handle_access(AccessNet::from_all(abi))?.scope(Scope::from_all(abi))?;
    } else {
        rules = rules.scope(Scope::Signal)?;
    }
    let mut rules = rules.create()?;
    let system = view::SYSTEM.iter().chain(&view::ETC).chain(&["/proc/self", "/proc/thread-self"]);
    for path in system.map(Path::new).chain(allowed.read.iter().map(PathBuf::as_path)) {
        rules = allow(rules, path, read)?;
    }
    if let Some(path) = allowed.list {
        rules = allow(rules, path, AccessFs::ReadDir.into())?;
    }
    for device in view::DEVICES {
        rules = allow(rules, Path::new(device), AccessFs::ReadFile | AccessFs::WriteFile)?;
    }
    let all_but_devices =
        AccessFs::from_all(abi) & !(AccessFs::MakeChar | AccessFs::MakeBlock | AccessFs::IoctlDev);
    for path in allowed.write {
        rules = allow(rules, path, all_but_devices)?;
    }
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
