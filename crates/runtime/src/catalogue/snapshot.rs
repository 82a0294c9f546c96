//! One state of the catalogue: tools by name, profiles with their published names resolved.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, OnceLock};

use serde_json::Value;
use toolroom_contract::spelling;
use toolroom_contract::validator::Validator;
use toolroom_profiles::{Answers, Binding, ChatRules, OutputMap, Picked, Profile, SEARCHERS, Show, Tools};
use toolroom_selection::Index;

use super::RegistryError;
use super::tool::Tool;

/// A state of the catalogue that never changes.
pub struct Snapshot {
    /// Counts up with every change.
    pub version: u64,
    /// The tools, by name.
    pub tools: BTreeMap<String, Arc<Tool>>,
    /// The profiles, by name.
    pub profiles: BTreeMap<String, BoundProfile>,
    profiles_source: Vec<Arc<Profile>>,
    /// Made by the first search in this state of the catalogue; no call waits for it.
    index: OnceLock<Index>,
}

/// A profile with its names resolved.
pub struct BoundProfile {
    /// One sentence for people.
    pub description: String,
    /// Whether destructive tools wait for a person.
    pub requires_approval: bool,
    /// How its tools are shown.
    pub show: Show,
    /// How a chat works with it.
    pub chat: ChatRules,
    /// Published names; `None` shows the whole catalogue as it is.
    pub bound: Option<HashMap<String, Arc<Bound>>>,
    /// Published names in the order of the profile.
    pub order: Vec<Arc<Bound>>,
    /// The shape of answers to calls that reached no tool, where the profile has one for all.
    pub output: Option<(OutputMap, Answers)>,
}

/// A published name with the tool behind it.
pub struct Bound {
    /// The canonical tool.
    pub tool: Arc<Tool>,
    /// The published input schema, compiled; `None` where it is the tool's own.
    pub validator: Option<Arc<Validator>>,
    shape: Shape,
}

/// Where the published shape is kept.
enum Shape {
    /// In the list of a profile.
    Listed { profile: Arc<Profile>, at: usize, parameters: Value },
    /// Here: it was made of the tool's own definition.
    Picked(Box<Binding>),
    /// There is none beside this name.
    Plain(String),
}

impl Bound {
    /// The published shape; `None` where the tool is shown as it is, but for its name.
    pub fn binding(&self) -> Option<&Binding> {
        match &self.shape {
            Shape::Picked(binding) => Some(binding),
            Shape::Listed { profile, at, .. } => profile.tools.listed().get(*at),
            Shape::Plain(_) => None,
        }
    }

    /// The published name.
    pub fn name(&self) -> &str {
        match &self.shape {
            Shape::Plain(name) => name,
            Shape::Picked(_) | Shape::Listed { .. } => self.binding().map_or("", |binding| &*binding.name),
        }
    }

    /// The published description.
    pub fn description(&self) -> &str {
        self.binding().map_or(&*self.tool.definition().description, |binding| &*binding.description)
    }

    /// The published input schema.
    pub fn parameters(&self) -> &Value {
        match &self.shape {
            Shape::Listed { parameters, .. } => parameters,
            Shape::Picked(binding) => &binding.parameters,
            Shape::Plain(_) => &self.tool.published().parameters,
        }
    }
}

impl BoundProfile {
    /// The name that it publishes a tool under.
    pub(super) fn name_of<'a>(&'a self, tool: &'a Tool) -> Option<&'a str> {
        if self.bound.is_none() {
            return Some(tool.name());
        }
        self.order.iter().find(|bound| bound.tool.name() == tool.name()).map(|bound| bound.name())
    }
}

impl Snapshot {
    /// The first state.
    pub(super) fn first(
        tools: BTreeMap<String, Arc<Tool>>,
        profiles: Vec<Arc<Profile>>,
    ) -> Result<Self, RegistryError> {
        Self::build(1, tools, profiles, &BTreeMap::new())
    }

    /// The state after this one, with other profiles.
    pub(super) fn with_profiles(&self, profiles: Vec<Arc<Profile>>) -> Result<Self, RegistryError> {
        Self::build(self.version + 1, self.tools.clone(), profiles, &BTreeMap::new())
    }

    /// The state after this one. What is published of tools that stay is taken over, not compiled again.
    pub(super) fn next(&self, tools: BTreeMap<String, Arc<Tool>>) -> Result<Self, RegistryError> {
        Self::build(self.version + 1, tools, self.profiles_source.clone(), &self.profiles)
    }

    fn build(
        version: u64,
        tools: BTreeMap<String, Arc<Tool>>,
        source: Vec<Arc<Profile>>,
        before: &BTreeMap<String, BoundProfile>,
    ) -> Result<Self, RegistryError> {
        let mut profiles = BTreeMap::new();
        for profile in &source {
            let old = before.get(&*profile.name).and_then(|view| view.bound.as_ref());
            let order = published(profile, &tools, old)?;
            let bound = match &profile.tools {
                Tools::Whole => None,
                Tools::Listed(_) | Tools::Picked(_) => {
                    let named = |one: &Arc<Bound>| (one.name().to_owned(), Arc::clone(one));
                    Some(order.iter().map(named).collect())
                }
            };
            let output = match &profile.tools {
                Tools::Picked(picked) => picked.style.output(),
                Tools::Whole | Tools::Listed(_) => None,
            };
            let description = profile.description.to_string();
            let view = BoundProfile {
                description,
                requires_approval: profile.requires_approval,
                show: profile.show,
                chat: profile.chat,
                bound,
                order,
                output,
            };
            profiles.insert(profile.name.to_string(), view);
        }
        Ok(Self { version, tools, profiles, profiles_source: source, index: OnceLock::new() })
    }

    /// The profiles, as they were given.
    pub(crate) fn profiles_source(&self) -> &[Arc<Profile>] {
        &self.profiles_source
    }

    /// The tools ready to be searched, in the order of `tools`.
    pub fn index(&self) -> &Index {
        self.index.get_or_init(|| crate::search::index(self.tools.values().map(|tool| &**tool.definition())))
    }
}

/// What a profile publishes of these tools, in its order.
fn published(
    profile: &Arc<Profile>,
    tools: &BTreeMap<String, Arc<Tool>>,
    old: Option<&HashMap<String, Arc<Bound>>>,
) -> Result<Vec<Arc<Bound>>, RegistryError> {
    let kept = |name: &str, tool: &Arc<Tool>| {
        old.and_then(|old| old.get(name)).filter(|bound| Arc::ptr_eq(&bound.tool, tool)).cloned()
    };
    let mut order = Vec::new();
    for (index, binding) in profile.tools.listed().iter().enumerate() {
        let tool = match (tools.get(&*binding.canonical), &profile.tools) {
            (Some(tool), _) => tool,
            // What a changing catalogue has lost is not shown.
            (None, Tools::Picked(_)) => continue,
            (None, _) => {
                return Err(RegistryError::MissingTool {
                    profile: profile.name.to_string(),
                    tool: binding.canonical.to_string(),
                });
            }
        };
        order.push(match kept(&binding.name, tool) {
            Some(bound) => bound,
            None => Arc::new(Bound {
                tool: Arc::clone(tool),
                validator: Some(Arc::new(compile(profile, binding)?)),
                shape: Shape::Listed {
                    profile: Arc::clone(profile),
                    at: index,
                    parameters: spelling::of_object(&binding.parameters),
                },
            }),
        });
    }
    if let Tools::Picked(picked) = &profile.tools {
        let (picked_tools, clashes) = picked_of(profile, picked, tools);
        for clash in clashes {
            let Clash { name, shown, left_out } = clash;
            tracing::warn!(
                profile = &*profile.name,
                tool = left_out,
                name,
                taken_by = shown,
                "a profile leaves a tool out: its name is taken"
            );
        }
        for (name, tool) in picked_tools {
            order.push(kept(name, tool).unwrap_or_else(|| {
                let shape = match picked.binding(name, tool.published(), tool.executor.source()) {
                    Some(binding) => Shape::Picked(Box::new(binding)),
                    None => Shape::Plain(name.to_owned()),
                };
                Arc::new(Bound { tool: Arc::clone(tool), validator: None, shape })
            }));
        }
    }
    Ok(order)
}

/// Two tools of a profile with one name.
pub(crate) struct Clash<'a> {
    pub(crate) name: &'a str,
    pub(crate) shown: &'a str,
    pub(crate) left_out: &'a str,
}

impl Snapshot {
    /// The first tool that such a profile would leave out because of the name that it gives another.
    pub(crate) fn clash_in<'a>(&'a self, profile: &'a Profile) -> Option<Clash<'a>> {
        let Tools::Picked(picked) = &profile.tools else { return None };
        picked_of(profile, picked, &self.tools).1.into_iter().next()
    }
}

/// What a profile would publish: the tools with their names, and the names that several of them would have.
pub struct Preview {
    pub tools: Vec<(String, Arc<Tool>)>,
    pub collisions: BTreeMap<String, Vec<String>>,
}

impl Snapshot {
    /// What such a profile would publish now.
    pub fn preview(&self, profile: &Profile) -> Preview {
        let Tools::Picked(picked) = &profile.tools else {
            return Preview { tools: Vec::new(), collisions: BTreeMap::new() };
        };
        let (taken, clashes) = picked_of(profile, picked, &self.tools);
        let mut collisions: BTreeMap<String, Vec<String>> = BTreeMap::new();
        for Clash { name, shown, left_out } in clashes {
            let tools = collisions.entry(name.to_owned()).or_insert_with(|| vec![shown.to_owned()]);
            tools.push(left_out.to_owned());
        }
        let tools = taken.into_iter().map(|(name, tool)| (name.to_owned(), Arc::clone(tool))).collect();
        Preview { tools, collisions }
    }
}

/// The tools that a profile takes, by name, with the names that it gives them; and those whose name was taken.
fn picked_of<'a>(
    profile: &'a Profile,
    picked: &'a Picked,
    tools: &'a BTreeMap<String, Arc<Tool>>,
) -> (BTreeMap<&'a str, &'a Arc<Tool>>, Vec<Clash<'a>>) {
    let mut taken: BTreeMap<&str, &Arc<Tool>> = BTreeMap::new();
    let mut clashes = Vec::new();
    // Names that somebody gave come first: no tool can come later and take one of them.
    let (named, others): (Vec<_>, Vec<_>) =
        tools.values().partition(|tool| picked.names.contains_key(tool.name()));
    for tool in named.into_iter().chain(others) {
        let searches = profile.show != Show::List && SEARCHERS.contains(&tool.name());
        let name = picked.name(tool.definition(), tool.executor.origin());
        let Some(name) = name.or(searches.then(|| tool.name())) else { continue };
        if let Some(first) = taken.get(name) {
            clashes.push(Clash { name, shown: first.name(), left_out: tool.name() });
        } else {
            taken.insert(name, tool);
        }
    }
    (taken, clashes)
}

fn compile(profile: &Profile, binding: &Binding) -> Result<Validator, RegistryError> {
    Validator::compile(&binding.parameters).map_err(|cause| RegistryError::BadShape {
        profile: profile.name.to_string(),
        tool: binding.name.to_string(),
        cause,
    })
}
