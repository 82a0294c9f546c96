//! Reads `tools.json` and `mcp.json`, and says exactly what is wrong with them.

use std::path::Path;

use toolroom_runtime::federation;
use toolroom_runtime::registrar::{self, FileProblem, Written};
use toolroom_upstream::config::ServerEntry;

use super::Home;
use crate::failure::Failure;

impl Home {
    /// Reads both registry files before anything else is touched; fails at the first problem.
    pub fn registry(&self) -> Result<(), Failure> {
        read_tools(&self.tools())?;
        read_servers(&self.servers()).map(drop)
    }
}

/// Reads `tools.json`.
pub fn read_tools(path: &Path) -> Result<Vec<Written>, Failure> {
    registrar::read(path).map_err(of_problem)
}

/// Reads `mcp.json`, with the variables of this process.
pub fn read_servers(path: &Path) -> Result<Vec<ServerEntry>, Failure> {
    let text = federation::text(path).map_err(of_problem)?;
    federation::read(path, &text, &|name| std::env::var(name).ok()).map_err(of_problem)
}

/// A problem of a registry file as a failure of the command.
pub fn of_problem(problem: FileProblem) -> Failure {
    Failure::new(problem.to_string(), problem.remedy)
}
