//! How far this system can confine code, found out by trying.

use std::collections::BTreeMap;
use std::io;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use tokio::sync::mpsc;

use crate::confine::{self, Failed, Level, Maker, World};
use crate::error::ScriptError;
use crate::one_shot;
use crate::spawn::Launch;
use crate::spec::Limits;

use super::confiner::{self, Confiner};

/// How far code can be confined here, and what was in the way of more.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found {
    /// The highest level that works.
    pub level: Level,
    /// For each level that does not, why.
    pub refused: Vec<(Level, String)>,
}

impl Found {
    /// Why the highest level does not work.
    pub fn reason(&self) -> String {
        match self.refused.as_slice() {
            [] => String::new(),
            [(_, full)] => full.clone(),
            [(_, full), (_, partial), ..] => format!("{full}; without namespaces: {partial}"),
        }
    }
}

/// Below this version Landlock does not cover the cutting of files.
const LEAST_LANDLOCK: i32 = 3;
/// From this version on it covers signals.
const LANDLOCK_WITH_SIGNALS: i32 = 6;

impl Confiner {
    /// How far this system can confine. Tried once; a temporary shortage is an error, not a lower level.
    pub(crate) async fn probe(&self, home: &Path) -> Result<Found, ScriptError> {
        self.found.get_or_try_init(|| self.find(home)).await.cloned()
    }

    async fn find(&self, home: &Path) -> Result<Found, ScriptError> {
        let mut refused = Vec::new();
        for level in [Level::Full, Level::Partial] {
            let tried = match (level, self.highest) {
                (Level::Full, Level::Partial | Level::None) | (Level::Partial, Level::None) => {
                    Err("switched off".to_owned())
                }
                (Level::Partial, _) if missing_for_partial().is_some() => {
                    Err(missing_for_partial().unwrap_or_default())
                }
                _ => match self.try_out(level, home).await {
                    Ok(()) => Ok(()),
                    Err(ScriptError::Sandbox(failed)) if !is_shortage(&failed) => Err(explained(&failed)),
                    Err(error) => return Err(error),
                },
            };
            match tried {
                Ok(()) => return Ok(Found { level, refused }),
                Err(reason) => refused.push((level, reason)),
            }
        }
        Ok(Found { level: Level::None, refused })
    }

    /// Sets the whole box up around a program that does nothing.
    async fn try_out(&self, level: Level, home: &Path) -> Result<(), ScriptError> {
        let mut world = self.world(level)?;
        let folder = confiner::place_of(&mut world, home)?;
        // Nobody waits for it but we.
        let (alive, _) = mpsc::channel(1);
        let launch = Launch {
            program: PathBuf::from("/bin/true"),
            arguments: Vec::new(),
            environment: BTreeMap::new(),
            workdir: work_in(&world),
            limits: Limits { memory: None, ..Limits::default() },
            bound_address_space: true,
            cpu_for_life: true,
            world: Some(world),
            folder,
            alive,
        };
        let mut process = launch.spawn().await?;
        one_shot::drive(&mut process, b"", |_, _| ControlFlow::Continue(())).await?;
        match process.boxed.as_ref().and_then(confine::Boxed::ended) {
            Some((0, _)) => Ok(()),
            Some((code, _)) => {
                let step = format!("/bin/true exited with {code} in it");
                Err(ScriptError::Sandbox(Failed { step, errno: libc::EIO }))
            }
            None => Err(ScriptError::Sandbox(Failed { step: "helper".to_owned(), errno: libc::ECHILD })),
        }
    }
}

/// The working folder of a box, as the program sees it.
pub(super) fn work_in(world: &World) -> PathBuf {
    match world.level {
        Level::Full => PathBuf::from(confine::WORK),
        Level::Partial | Level::None => world.place.join("work"),
    }
}

fn missing_for_partial() -> Option<String> {
    let landlock = confine::landlock_version();
    if !confine::has_filter() {
        return Some("no system call filter for this architecture".to_owned());
    }
    if landlock < LEAST_LANDLOCK {
        return Some(format!("Landlock {LEAST_LANDLOCK} is needed, this kernel has {landlock}"));
    }
    (landlock < LANDLOCK_WITH_SIGNALS && Maker::this() == Maker::User).then(|| {
        format!("Landlock {LANDLOCK_WITH_SIGNALS} is needed without another user, this kernel has {landlock}")
    })
}

/// Whether a retry may work, so that no lower level is used.
fn is_shortage(failed: &Failed) -> bool {
    matches!(failed.errno, libc::EAGAIN | libc::ENOMEM | libc::EMFILE | libc::ENFILE | libc::ECHILD)
}

/// The refusal with its usual cause.
fn explained(failed: &Failed) -> String {
    let reads = |path: &str| std::fs::read_to_string(path).unwrap_or_default().trim().to_owned();
    let restricted = reads("/proc/sys/kernel/apparmor_restrict_unprivileged_userns") == "1";
    let error = io::Error::from_raw_os_error(failed.errno);
    let why = match (failed.step.as_str(), failed.errno) {
        (_, libc::EPERM | libc::EACCES) if restricted && Maker::this() == Maker::User => {
            " (AppArmor restricts user namespaces)"
        }
        ("unshare user", libc::ENOSPC) => " (user.max_user_namespaces is 0 or used up)",
        ("unshare user" | "unshare", libc::EPERM) => " (a container's or service's rules deny namespaces)",
        _ => "",
    };
    format!("{}: {error}{why}", failed.step)
}
