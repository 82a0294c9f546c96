//! Other MCP servers as part of the catalogue: real servers in mcp.json, seen by the front door.

mod approvals;
mod asking;
mod calls;
mod changes;
mod confined;
pub mod desk;
mod entries;
mod eras;
mod held;
mod outages;
mod pages;
mod resources;
mod reviews;
