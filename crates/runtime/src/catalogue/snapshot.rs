//! One state of the catalogue: tools by name, profiles with their published names resolved.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, OnceLock};

use toolroom_contract::validator::Validator;
use toolroom_profiles::{Binding, Profile, Tools};
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
    pub profiles: BTreeMap<String, ProfileView>,
    pub(super) profiles_source: Arc<Vec<Profile>>,
    /// Made by the first search in this state of the catalogue; no call waits for it.
    index: OnceLock<Index>,
}

/// A profile with its names resolved.
pub struct ProfileView {
    /// One sentence for people.
    pub description: String,
    /// Whether destructive tools wait for a person.
    pub holds: bool,
    /// Published names; `None` shows the whole catalogue as it is.
    pub bound: Option<HashMap<String, Arc<Bound>>>,
    /// Published names in the order of the profile.
    pub order: Vec<Arc<Bound>>,
}

/// A published name with the tool behind it.
pub struct Bound {
    /// The canonical tool.
    pub tool: Arc<Tool>,
    /// The published input schema, compiled.
    pub validator: Validator,
    profiles: Arc<Vec<Profile>>,
    at: (usize, usize),
}

impl Bound {
    /// The published shape.
    pub fn binding(&self) -> &Binding {
        match &self.profiles[self.at.0].tools {
            Tools::Listed(bindings) => &bindings[self.at.1],
            // `Snapshot::build` makes a Bound only for a listed binding.
            Tools::Whole => unreachable!("a whole profile has no bindings"),
        }
    }
}

impl Snapshot {
    pub(super) fn build(
        version: u64,
        tools: BTreeMap<String, Arc<Tool>>,
        source: Arc<Vec<Profile>>,
    ) -> Result<Self, RegistryError> {
        let mut profiles = BTreeMap::new();
        for (at, profile) in source.iter().enumerate() {
            profiles.insert(profile.name.to_string(), view(at, profile, &tools, &source)?);
        }
        Ok(Self { version, tools, profiles, profiles_source: source, index: OnceLock::new() })
    }

    /// The tools ready to be searched, in the order of `tools`.
    pub fn index(&self) -> &Index {
        self.index.get_or_init(|| crate::search::index(self.tools.values().map(|tool| &**tool.definition())))
    }
}

fn view(
    at: usize,
    profile: &Profile,
    tools: &BTreeMap<String, Arc<Tool>>,
    source: &Arc<Vec<Profile>>,
) -> Result<ProfileView, RegistryError> {
    let mut order = Vec::new();
    let bound = match &profile.tools {
        Tools::Whole => None,
        Tools::Listed(bindings) => {
            let mut bound = HashMap::new();
            for (index, binding) in bindings.iter().enumerate() {
                let tool = tools.get(&*binding.canonical).ok_or_else(|| RegistryError::MissingTool {
                    profile: profile.name.to_string(),
                    tool: binding.canonical.to_string(),
                })?;
                let validator =
                    Validator::compile(&binding.parameters).map_err(|cause| RegistryError::BadShape {
                        profile: profile.name.to_string(),
                        tool: binding.name.to_string(),
                        cause,
                    })?;
                let entry = Arc::new(Bound {
                    tool: Arc::clone(tool),
                    validator,
                    profiles: Arc::clone(source),
                    at: (at, index),
                });
                order.push(Arc::clone(&entry));
                bound.insert(binding.name.to_string(), entry);
            }
            Some(bound)
        }
    };
    Ok(ProfileView { description: profile.description.to_string(), holds: profile.holds, bound, order })
}
