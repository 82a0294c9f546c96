//! Profiles that a home's owner defines, in `toolroom.toml` or `profiles.json`.

use std::collections::{BTreeMap, BTreeSet};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use toolroom_contract::confidence::Source;

use crate::profile::{ChatRules, Confirm, Pick, Picked, Profile, Show, Style, Tools};

/// A view of the catalogue under `/mcp/NAME`. In built-in profiles only `requires_approval`, `show`, `list_up_to` and
/// `confirm` can be set, and `output_schemas` in `plain`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ProfileSettings {
    /// What the profile is for.
    description: Option<String>,
    /// Tools by name; `*` stands for any characters.
    tools: Vec<String>,
    /// Tools with one of these tags.
    tags: Vec<String>,
    /// Tools from these sources.
    sources: Vec<From>,
    /// Tools of these MCP servers.
    servers: Vec<String>,
    /// Names to leave out; `*` stands for any characters.
    without: Vec<String>,
    /// Published names, by the tool's own name.
    rename: BTreeMap<String, String>,
    /// `search` lists only `search-tools`, `describe-tool` and `call-tool`; the others are found through them. Without
    /// it: `list`.
    show: Option<How>,
    /// With more tools than this, `show` is `search` without being set. Without it: 40 in `plain`, and no limit elsewhere.
    list_up_to: Option<usize>,
    /// `plain`: short descriptions, and the data alone as the answer. `full`: everything, with hints and metadata.
    /// Without it: `plain`.
    results: Option<Results>,
    /// Whether plain tools show the schema of their answers, and give them as structured content too. Without it: no.
    output_schemas: Option<bool>,
    /// Whether destructive tools wait for a person. Without it: yes, except in `todo-chatbot`, `todo_tasks` and
    /// `assistant`.
    requires_approval: Option<bool>,
    /// What the chat asks the user to confirm: `never`, `deletes` (and bulk changes) or `changes`. Without it:
    /// `deletes`, and `changes` in `assistant`.
    confirm: Option<Ask>,
}

#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(rename = "ProfileSource")]
enum From {
    Native,
    Scripts,
    Servers,
}

#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(rename = "ProfileShows")]
enum How {
    List,
    Search,
}

#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(rename = "ProfileResults")]
enum Results {
    Plain,
    Full,
}

#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(rename = "ProfileAsks")]
enum Ask {
    Never,
    Deletes,
    Changes,
}

/// What is wrong, and what to do about it.
pub type Wrong = (String, &'static str);

const A_NAME: &str = "Use 1 to 64 letters, digits, '-' or '_', which every client accepts.";

impl ProfileSettings {
    fn picks(&self) -> Vec<Pick> {
        let source = |from: &From| match from {
            From::Native => Source::Native,
            From::Scripts => Source::Script,
            From::Servers => Source::Upstream,
        };
        let names = self.tools.iter().cloned().map(Pick::Name);
        let tags = self.tags.iter().cloned().map(Pick::Tag);
        let servers = self.servers.iter().cloned().map(Pick::Server);
        names.chain(tags).chain(servers).chain(self.sources.iter().map(source).map(Pick::Source)).collect()
    }

    fn show(&self, unset: Show) -> Show {
        match (self.show, self.list_up_to) {
            (Some(How::Search), _) => Show::Search,
            (None, Some(most)) => Show::UpTo(most),
            (Some(How::List), _) => Show::List,
            (None, None) => unset,
        }
    }

    fn style(&self) -> Style {
        match self.results {
            Some(Results::Full) => Style::Whole,
            Some(Results::Plain) | None => {
                Style::Plain { output_schemas: self.output_schemas.unwrap_or_default() }
            }
        }
    }

    fn confirm(&self) -> Option<Confirm> {
        Some(match self.confirm? {
            Ask::Never => Confirm::Never,
            Ask::Deletes => Confirm::Deletes,
            Ask::Changes => Confirm::Changes,
        })
    }

    /// The profile of that name.
    pub fn profile(&self, name: &str) -> Profile {
        let description = self.description.clone();
        Profile {
            name: name.to_owned().into(),
            description: description.unwrap_or_else(|| "A profile of this home.".to_owned()).into(),
            requires_approval: self.requires_approval.unwrap_or(true),
            show: self.show(Show::List),
            chat: ChatRules { confirm: self.confirm().unwrap_or_default(), ..ChatRules::default() },
            tools: Tools::Picked(Picked {
                picks: self.picks(),
                without: self.without.iter().cloned().map(Pick::Name).collect(),
                names: self.rename.clone(),
                style: self.style(),
                ..Picked::default()
            }),
        }
    }

    /// Puts in force what can be set in a built-in profile.
    pub fn set(&self, profile: &mut Profile) {
        profile.requires_approval = self.requires_approval.unwrap_or(profile.requires_approval);
        profile.show = self.show(profile.show);
        if let (Some(shown), Tools::Picked(Picked { style: Style::Plain { output_schemas }, .. })) =
            (self.output_schemas, &mut profile.tools)
        {
            *output_schemas = shown;
        }
        profile.chat.confirm = self.confirm().unwrap_or(profile.chat.confirm);
    }

    /// Whether it can be set in this built-in profile, whose tools are fixed.
    pub fn check_built_in(&self, profile: &Profile) -> Result<(), Wrong> {
        let own = !self.picks().is_empty() || !self.without.is_empty() || !self.rename.is_empty();
        if own || self.description.is_some() {
            let what = "is a built-in profile: its tools and names cannot be changed".to_owned();
            return Err((
                what,
                "Give the profile another name. In a built-in one you can set 'requires_approval', 'show', 'list_up_to' and 'confirm'.",
            ));
        }
        if self.show(Show::List) != Show::List && matches!(profile.tools, Tools::Listed(_)) {
            let what = "show = \"search\" or list_up_to: this profile publishes a fixed list".to_owned();
            let hint = "Remove the line. 'default', 'plain', 'executor' and your own profiles can have it.";
            return Err((what, hint));
        }
        let is_plain =
            matches!(&profile.tools, Tools::Picked(picked) if matches!(picked.style, Style::Plain { .. }));
        if self.results.is_some() || (self.output_schemas.is_some() && !is_plain) {
            let what = "results or output_schemas: the answers of this profile are fixed".to_owned();
            return Err((what, "Remove the line. Your own profiles can have both, 'plain' output_schemas."));
        }
        Ok(())
    }

    /// Whether a profile of that name can be made so.
    pub fn check(&self, name: &str) -> Result<(), Wrong> {
        if !is_name(name) {
            return Err(("is not a name for a profile".to_owned(), A_NAME));
        }
        if self.picks().is_empty() {
            let hint = "Name some: tools = [\"weather\", \"files__*\"], tags = […], servers = […], or sources = \
                        [\"native\", \"scripts\", \"servers\"].";
            return Err(("picks no tools".to_owned(), hint));
        }
        let mut taken = BTreeSet::new();
        for (tool, published) in &self.rename {
            if !is_name(published) {
                return Err((format!("rename: '{published}' is not a name for a tool"), A_NAME));
            }
            if !taken.insert(published) {
                let hint = "Give each tool a different name.";
                return Err((
                    format!("rename: '{tool}' and another tool are both called '{published}'"),
                    hint,
                ));
            }
            let names = |list: &[String]| list.iter().any(|name| name == published);
            let is_shown =
                names(&self.tools) && !names(&self.without) && !self.rename.contains_key(published);
            if is_shown && tool != published {
                return Err(name_clash(tool, published, published));
            }
        }
        Ok(())
    }
}

/// Two tools of a profile would have one name, so that one of them would be lost.
pub fn name_clash(tool: &str, other: &str, published: &str) -> Wrong {
    let hint = "Give each tool a different name, or leave one of them out with 'without'.";
    (format!("rename: '{tool}' and '{other}' would both be called '{published}'"), hint)
}

fn is_name(text: &str) -> bool {
    let letter = |letter: u8| letter.is_ascii_alphanumeric() || matches!(letter, b'-' | b'_');
    (1..=64).contains(&text.len()) && text.bytes().all(letter)
}
