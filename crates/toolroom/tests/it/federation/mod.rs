//! Other MCP servers as part of the catalogue: real servers in mcp.json, seen by the front door.

mod approvals;
mod asking;
mod calls;
mod changes;
mod confined;
mod entries;
mod eras;
mod outages;
mod pages;
mod pending_review;
mod pool;
mod resources;
mod reviews;
pub mod test_servers;
