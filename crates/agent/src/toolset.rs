//! The tools of a chat: those of its profile that the person may use, and the client's own.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use jiff::civil::Date;
use jiff::tz::TimeZone;
use serde_json::{Value, json};
use toolroom_contract::effect::{Named, Shows, loosely};
use toolroom_contract::{Principal, User};
use toolroom_profiles::{Caller, ChatRules, SEARCHERS};
use toolroom_runtime::catalogue::{Executor, Shown, Snapshot, Tool};
use toolroom_runtime::search;

use toolroom_model::{Schema, ToolChoice, ToolSpec};

/// The tools of a chat.
pub struct Toolset {
    snapshot: Arc<Snapshot>,
    profile: String,
    today: Date,
    all: Vec<Offered>,
    /// Tools that the client runs itself.
    client: Vec<ToolSpec>,
    /// Who calls, and where, for the maps of the profile.
    user: User,
    zone: TimeZone,
}

/// A tool as the profile publishes it.
struct Offered {
    spec: ToolSpec,
    tool: Arc<Tool>,
}

/// A call, led to the tool that runs in the end.
pub struct Resolved<'a> {
    /// The tool.
    pub tool: Arc<Tool>,
    /// The parameters that it gets.
    pub params: Cow<'a, Value>,
    /// The parameters as the profile calls them.
    pub published: &'a Value,
}

impl Resolved<'_> {
    /// What the call would change. What is new is none of it.
    pub fn targets(&self) -> Vec<Named> {
        self.tool.effect.targets(&self.params, &Value::Null)
    }
}

impl Toolset {
    /// The tools of this profile; `None` if there is no such profile for this caller.
    pub fn of(
        snapshot: &Arc<Snapshot>,
        who: &Principal,
        profile: &str,
        (today, zone): (Date, TimeZone),
        client: Vec<ToolSpec>,
    ) -> Option<Self> {
        let all: Vec<Offered> =
            snapshot.view(who, profile, today)?.tools().map(|shown| offer(&shown)).collect();
        // What the server has is the server's: a client cannot put its own instead of it.
        let taken: HashSet<&str> = all.iter().map(|one| one.spec.name.as_str()).collect();
        let client = client.into_iter().filter(|spec| !taken.contains(spec.name.as_str())).collect();
        let (snapshot, profile, user) = (Arc::clone(snapshot), profile.to_owned(), who.user.clone());
        Some(Self { snapshot, profile, today, all, client, user, zone })
    }

    /// The tools of another profile.
    pub fn under(&self, who: &Principal, profile: &str) -> Option<Self> {
        Self::of(&self.snapshot, who, profile, (self.today, self.zone.clone()), Vec::new())
    }

    /// No tools at all.
    pub fn emptied(self) -> Self {
        Self { all: Vec::new(), client: Vec::new(), ..self }
    }

    /// What the model is shown for these words: everything, or where that is too much what fits them best.
    /// The one that must be called is always there.
    pub fn shown(&self, who: &Principal, words: &str, most: usize, choice: &ToolChoice) -> Vec<ToolSpec> {
        let client = self.client.iter().cloned();
        if self.all.len() <= most {
            return self.all.iter().map(|one| one.spec.clone()).chain(client).collect();
        }
        let view = self.snapshot.view(who, &self.profile, self.today);
        let hits = view.map(|view| search::search(&view, words, most)).unwrap_or_default();
        let mut places: HashMap<&str, Vec<usize>> = HashMap::new();
        for (at, one) in self.all.iter().enumerate() {
            places.entry(&one.spec.canonical).or_default().push(at);
        }
        // Tools by which others are found and called, and people asked, stay where a list is cut short.
        let asking = self.all.iter().filter(|one| asks(&one.tool)).map(|one| one.tool.name());
        let named = SEARCHERS.into_iter().chain(asking).chain(hits.iter().map(|hit| hit.tool.name()));
        // Each is shown once: a finder may also be among the hits.
        let fitting = named.flat_map(|name| places.remove(name).unwrap_or_default());
        let mut shown: Vec<ToolSpec> =
            fitting.filter_map(|at| self.all.get(at)).map(|one| one.spec.clone()).take(most).collect();
        let chosen = |spec: &ToolSpec| *choice == ToolChoice::Named(spec.name.clone());
        if !shown.iter().any(chosen) {
            shown.extend(self.all.iter().map(|one| &one.spec).find(|spec| chosen(spec)).cloned());
        }
        shown.extend(client);
        shown
    }

    /// The published name that a model meant: servers and models change case, dashes and prefixes.
    pub fn name_meant(&self, written: &str) -> Option<&str> {
        let exact = self.all.iter().find(|one| one.spec.name == written);
        if let Some(one) = exact {
            return Some(&one.spec.name);
        }
        let wanted = unprefixed(written);
        let mut fitting = self.all.iter().filter(|one| unprefixed(&one.spec.name) == wanted);
        match (fitting.next(), fitting.next()) {
            (Some(one), None) => Some(&one.spec.name),
            _ => None,
        }
    }

    /// Whether the client runs this one itself.
    pub fn is_clients(&self, name: &str) -> bool {
        self.client.iter().any(|spec| spec.name == name)
    }

    /// The tool that a call of this published name runs in the end, and what it gets.
    pub fn resolve<'a>(&self, name: &str, params: &'a Value) -> Option<Resolved<'a>> {
        let offered = self.all.iter().find(|one| one.spec.name == name)?;
        let is_forward = |one: &&Offered| matches!(one.tool.executor, Executor::Forward);
        let inner = params.get("name").and_then(Value::as_str).filter(|_| is_forward(&offered));
        let inner = inner.and_then(|inner| self.all.iter().find(|one| one.spec.name == inner));
        static NONE: Value = Value::Null;
        Some(match inner.filter(|inner| !is_forward(inner)) {
            Some(inner) => self.mapped(inner, params.get("params").unwrap_or(&NONE)),
            // A call of nothing is refused by the pipeline.
            None => self.mapped(offered, params),
        })
    }

    /// The call as the profile maps it. What it cannot map is refused by the pipeline.
    fn mapped<'a>(&self, offered: &Offered, published: &'a Value) -> Resolved<'a> {
        let binding = match &offered.spec.parameters {
            Schema::Bound(bound) => bound.binding(),
            Schema::Tool(_) | Schema::Own(_) => None,
        };
        let caller = Caller { user: &self.user, time_zone: &self.zone };
        let input = binding.and_then(|binding| binding.map(published, &caller).ok());
        let (other, params) = match input {
            Some(input) => {
                (input.tool.and_then(|tool| self.snapshot.tools.get(tool)), Cow::Owned(input.params))
            }
            None => (None, Cow::Borrowed(published)),
        };
        Resolved { tool: Arc::clone(other.unwrap_or(&offered.tool)), params, published }
    }

    /// How a chat works with these tools.
    pub fn rules(&self) -> ChatRules {
        self.snapshot.profiles.get(&self.profile).map(|profile| profile.chat).unwrap_or_default()
    }

    /// Whether there is a tool of this published name, the client's own included.
    pub fn has(&self, name: &str) -> bool {
        self.all.iter().any(|one| one.spec.name == name) || self.is_clients(name)
    }

    /// The tool that finds such things by words.
    pub fn finder(&self, noun: &str) -> Option<&str> {
        let finds = |one: &&Offered| shows(&one.tool, Shows::Matches, noun);
        self.all.iter().find(finds).map(|one| one.spec.name.as_str())
    }

    /// The call that shows this target, if the profile has one: by a tool for that, or by one that its map leads there.
    pub fn showing(&self, target: &Named) -> Option<(String, Value)> {
        let shows_it = |tool: &Tool| shows(tool, Shows::One, &target.noun);
        let tool = self.snapshot.tools.values().find(|tool| shows_it(tool))?;
        let places = tool.effect.target.as_ref()?.at.iter();
        let field = loosely(places.filter_map(|place| place.strip_prefix("/params/")).next()?);
        self.all.iter().filter(|one| one.spec.read_only).find_map(|one| {
            let fields = one.spec.parameters.get("properties")?.as_object()?;
            let name = fields.keys().find(|name| loosely(name) == field)?;
            let params = json!({ name.as_str(): target.id });
            shows_it(&self.mapped(one, &params).tool).then(|| (one.spec.name.clone(), params))
        })
    }

    /// Published names, for a model that named none of them.
    pub fn names(&self) -> Vec<&str> {
        self.all.iter().map(|one| one.spec.name.as_str()).collect()
    }
}

fn offer(shown: &Shown<'_>) -> Offered {
    let tool = shown.tool;
    Offered {
        spec: ToolSpec {
            name: shown.name.to_owned(),
            canonical: tool.name().to_owned(),
            description: shown.description.to_owned(),
            parameters: match shown.bound {
                None => Schema::Tool(Arc::clone(tool)),
                Some(bound) => Schema::Bound(Arc::clone(bound)),
            },
            read_only: tool.policy.read_only || asks(tool),
            destructive: tool.policy.needs_approval,
        },
        tool: Arc::clone(tool),
    }
}

fn shows(tool: &Tool, how: Shows, noun: &str) -> bool {
    tool.effect.shows == Some(how) && tool.effect.nouns().first().is_some_and(|one| one == noun)
}

/// Whether a tool's effect is a question to a person, and nothing else.
pub fn asks(tool: &Tool) -> bool {
    tool.executor.handler().is_some_and(|handler| handler.asks())
}

/// A name whatever it is written in, without a prefix.
fn unprefixed(name: &str) -> String {
    let last = name.rsplit(['.', ':', '/']).next().unwrap_or(name);
    loosely(last)
}
