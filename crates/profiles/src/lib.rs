//! Published shapes: which tools a profile shows, under which names, with which inputs and answers.
//!
//! A profile only maps. It knows no store and no task logic: its input map turns published parameters
//! into canonical ones, its output map turns the canonical result into the published answer.

pub mod assistant;
mod canonical;
mod dry_run;
mod due;
pub mod executor;
pub mod openai;
pub mod plain;
mod profile;
mod refusal;
mod settings;
pub mod todo_chatbot;
pub mod todo_tasks;

pub use profile::{
    Answers, Binding, Caller, ChatRules, Confirm, Input, InputMap, Origin, OutputMap, Pick, Picked, Plain,
    Profile, Published, SEARCHERS, Show, Style, Tools, is_failure,
};
pub use settings::{ProfileSettings, name_clash};

/// The name of the profile that shows everything as it is.
pub const DEFAULT: &str = "default";

/// The profiles that are built in.
pub fn built_in() -> Vec<Profile> {
    let whole = Profile {
        name: DEFAULT.into(),
        description: "The whole catalogue that the caller may use, under its own names.".into(),
        requires_approval: true,
        show: Show::List,
        chat: ChatRules::default(),
        tools: Tools::Whole,
    };
    vec![
        whole,
        plain::profile(),
        todo_chatbot::profile(),
        todo_tasks::profile(),
        assistant::profile(),
        executor::profile(),
    ]
}
