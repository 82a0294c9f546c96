//! `sandbox` of an entry: what a server's program may reach of the host.

use std::path::{Path, PathBuf};

use toolroom_contract::sandbox::{SandboxNetwork, SandboxOpenings};
use toolroom_worker::Openings;

use super::read::{Wrong, at};
use super::variables::Expander;
use super::{ConfigError, Reach, ServerEntry, Standing};

/// The openings as they are written, with variables put in. The home and where paths lead come later.
pub(super) fn openings(wanted: &SandboxOpenings, expander: &mut Expander<'_>) -> Result<Openings, Wrong> {
    if let Some((name, range)) = wanted.out_of_range() {
        return Err(at(&format!("sandbox.{name}"), &range));
    }
    let mut paths = |list: &[String]| list.iter().map(|path| PathBuf::from(expander.expand(path))).collect();
    Ok(Openings {
        home: PathBuf::new(),
        read: paths(&wanted.read),
        write: paths(&wanted.write),
        host_network: wanted.network == Some(SandboxNetwork::Host),
        memory: wanted.memory.unwrap_or(Openings::MEMORY),
        disk: wanted.disk.unwrap_or(Openings::DISK),
        is_resolved: false,
    })
}

impl ServerEntry {
    /// Resolves the paths that a confined server may reach, of which none may lead into the home.
    pub fn resolve_sandbox(&mut self, home: &Path) -> Result<(), ConfigError> {
        let Standing::Enabled(config) = &mut self.standing else { return Ok(()) };
        let Reach::Stdio(stdio) = &mut config.reach else { return Ok(()) };
        let Some(openings) = &mut stdio.sandbox else { return Ok(()) };
        let wrong = |field: String, message: String| ConfigError {
            server: Some(self.name.clone()),
            field: Some(field),
            place: None,
            message,
        };
        openings.home = home.to_owned();
        *openings = openings
            .clone()
            .resolve()
            .map_err(|bad| wrong(format!("sandbox.{}[{}]", bad.list, bad.index), bad.message))?;
        if let Some(cwd) = &mut stdio.cwd {
            let real = cwd.canonicalize().unwrap_or_else(|_| cwd.clone());
            if !openings.show(&real) {
                let message =
                    "is not open to the sandbox: add it to sandbox.read or sandbox.write, or remove it";
                return Err(wrong("cwd".to_owned(), message.to_owned()));
            }
            *cwd = real;
        }
        Ok(())
    }
}
