//! Which tool a sentence asks for: search over the catalogue by words and meaning, and a gate that knows when no tool
//! is needed and when to ask. No I/O; the trained table is part of the build (see `training/`).

mod families;
mod gate;
mod index;
mod lexical;
mod select;
mod stems;
mod table;
mod text;
mod wish;

pub use families::Family;
pub use gate::{Chances, Class, Intent};
pub use index::{Index, Parameter, Scored, ToolText};
pub use select::{Because, Choice, Selection};
pub use text::LONGEST_TEXT;
pub use wish::may_ask_for_change;
