//! What the registry files have in common: written durably, watched for edits, and told exactly what is wrong.

pub(crate) mod disk;
pub(crate) mod problem;
pub(crate) mod watch;

pub use disk::{Disk, RealDisk};
pub use problem::FileProblem;
pub use watch::Watch;
