//! `profiles.json`: profiles that are made while the server runs. Those of `toolroom.toml` stay as they are.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use serde::Deserialize;
use serde_json::Value;
use toolroom_contract::unique_keys::UniqueKeys;
use toolroom_contract::{ErrorCode, ToolError};
use toolroom_profiles::{Profile, ProfileSettings, name_clash};

use crate::Runtime;
use crate::registry_file::problem::place_of;
use crate::registry_file::{Entries, FileError, FileProblem, InForce, Origin, RealDisk, RegistryFile, Scope};

/// Keeps `profiles.json` and the profiles of the catalogue the same.
pub type ProfileFile = RegistryFile<ProfileEntries>;

/// What makes profiles of the entries.
pub struct ProfileEntries {
    runtime: Arc<Runtime>,
    /// The built-in ones and those of the settings.
    fixed: Vec<Arc<Profile>>,
    /// Whether what is read is an edit. At the start no tool that somebody else registered may stand in the way: it is
    /// left out of the profile, and that is logged.
    started: AtomicBool,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    profiles: BTreeMap<String, ProfileSettings>,
}

impl ProfileFile {
    /// Reads the file, if there is one. The profiles that the runtime has by now are not its own to change.
    pub fn open(path: PathBuf, runtime: &Arc<Runtime>) -> Result<Arc<Self>, FileProblem> {
        let shared = runtime.shared_registry().cloned();
        let file = Self::load(path, ProfileEntries::of(runtime), Arc::new(RealDisk), shared)?;
        file.entries.started.store(true, Ordering::Relaxed);
        Ok(file)
    }

    /// No profiles, and no file.
    pub fn none(runtime: &Arc<Runtime>) -> Arc<Self> {
        Self::missing("profiles.json", ProfileEntries::of(runtime))
    }
}

/// Why a profile was not changed.
#[derive(Debug, thiserror::Error)]
pub enum ProfileError {
    /// It is built in, or one of `toolroom.toml`.
    #[error("'{0}' is built in or stands in toolroom.toml, and is changed there")]
    Fixed(String),
    /// `profiles.json` has none of that name.
    #[error("profiles.json has no profile named '{0}'")]
    NotFound(String),
    /// It cannot be made so.
    #[error("{0}")]
    Wrong(String, &'static str),
    /// The file cannot be changed.
    #[error(transparent)]
    File(#[from] FileError),
}

impl From<ProfileError> for ToolError {
    fn from(error: ProfileError) -> Self {
        let message = error.to_string();
        match error {
            ProfileError::Fixed(_) => {
                ToolError::new(ErrorCode::AlreadyExists, format!("{message}. Choose another name."))
            }
            ProfileError::NotFound(_) => ToolError::new(ErrorCode::NotFound, format!("{message}.")),
            ProfileError::Wrong(_, remedy) => {
                ToolError::new(ErrorCode::InvalidInput, format!("The profile {message}. {remedy}"))
            }
            ProfileError::File(error) => error.into(),
        }
    }
}

impl ProfileFile {
    /// Whether a profile is not this file's to change.
    pub fn is_fixed(&self, name: &str) -> bool {
        self.entries.fixed.iter().any(|profile| profile.name == *name)
    }

    /// A profile of the file, as it is written.
    pub async fn settings(&self, name: &str) -> Option<ProfileSettings> {
        self.in_force(|profiles| profiles.get(name).cloned()).await
    }

    /// Makes a profile, or replaces the one of its name; whether it is new.
    pub async fn put(
        self: &Arc<Self>,
        name: String,
        settings: ProfileSettings,
    ) -> Result<bool, ProfileError> {
        if self.is_fixed(&name) {
            return Err(ProfileError::Fixed(name));
        }
        self.in_turn(move |me, turn| {
            let before = turn.state.get(&name);
            me.entries
                .check(&name, &settings, before, Origin::File)
                .map_err(|(message, remedy)| ProfileError::Wrong(message, remedy))?;
            let created = before.is_none();
            let mut next = turn.state.clone();
            next.insert(name, settings);
            me.apply(turn, &next)?;
            Ok(created)
        })
        .await
    }

    /// Removes a profile.
    pub async fn remove(self: &Arc<Self>, name: String) -> Result<(), ProfileError> {
        if self.is_fixed(&name) {
            return Err(ProfileError::Fixed(name));
        }
        self.in_turn(move |me, turn| {
            let mut next = turn.state.clone();
            if next.remove(&name).is_none() {
                return Err(ProfileError::NotFound(name));
            }
            me.apply(turn, &next)
        })
        .await
    }

    /// Writes these profiles, then puts them in force.
    fn apply(
        &self,
        turn: &mut InForce<BTreeMap<String, ProfileSettings>>,
        profiles: &BTreeMap<String, ProfileSettings>,
    ) -> Result<(), ProfileError> {
        let aborted = |error: serde_json::Error| FileError::Aborted(error.to_string());
        let mut value = serde_json::to_value(profiles).map_err(aborted)?;
        without_empty(&mut value);
        let text =
            serde_json::to_string_pretty(&serde_json::json!({ "profiles": value })).map_err(aborted)?;
        let before = turn.text.clone();
        self.save(turn, text + "\n")?;
        let text = turn.text.clone();
        self.entries.load(&self.path, &mut turn.state, &text, Origin::File).map_err(|problem| {
            // What cannot be in force must not stand in the file either.
            if let Err(error) = self.save(turn, before) {
                tracing::error!(%error, "profiles.json was not restored");
            }
            FileError::Unusable(problem).into()
        })
    }
}

/// Fields that say nothing are left out of the file.
fn without_empty(value: &mut Value) {
    if let Value::Object(fields) = value {
        fields.values_mut().for_each(without_empty);
        fields.retain(|_, value| match value {
            Value::Null => false,
            Value::Array(items) => !items.is_empty(),
            Value::Object(fields) => !fields.is_empty(),
            _ => true,
        });
    }
}

impl ProfileEntries {
    fn of(runtime: &Arc<Runtime>) -> Self {
        let fixed = runtime.registry.snapshot().profiles_source().to_vec();
        Self { runtime: Arc::clone(runtime), fixed, started: AtomicBool::new(false) }
    }

    fn check(
        &self,
        name: &str,
        settings: &ProfileSettings,
        in_force: Option<&ProfileSettings>,
        origin: Origin,
    ) -> Result<(), (String, &'static str)> {
        if self.fixed.iter().any(|profile| profile.name == *name) {
            let what = "is the name of a built-in profile or of one in toolroom.toml".to_owned();
            return Err((what, "Give the profile another name."));
        }
        settings.check(name)?;
        let (profile, snapshot) = (settings.profile(name), self.runtime.registry.snapshot());
        let edited =
            origin == Origin::File && self.started.load(Ordering::Relaxed) && in_force != Some(settings);
        match snapshot.clash_in(&profile).filter(|_| edited) {
            Some(clash) => Err(name_clash(clash.shown, clash.left_out, clash.name)),
            None => Ok(()),
        }
    }
}

impl Entries for ProfileEntries {
    type State = BTreeMap<String, ProfileSettings>;
    const EMPTY: &'static str = "{\"profiles\": {}}";
    const OPTIONAL: bool = true;
    /// The database and its log are beside it.
    const SCOPE: Scope = Scope::File;

    fn load(
        &self,
        path: &Path,
        state: &mut Self::State,
        text: &str,
        origin: Origin,
    ) -> Result<(), FileProblem> {
        let profiles = self.read(path, state, text, origin)?;
        if profiles == *state {
            return Ok(());
        }
        let made = profiles.iter().map(|(name, settings)| Arc::new(settings.profile(name)));
        let all = self.fixed.iter().cloned().chain(made).collect();
        let refused = |error: crate::catalogue::RegistryError| {
            FileProblem::whole(
                path,
                error.to_string(),
                "Fix the profiles, or restore the file from a backup.",
            )
        };
        self.runtime.registry.change_profiles(all).map_err(refused)?;
        *state = profiles;
        Ok(())
    }

    fn check(&self, path: &Path, state: &Self::State, text: &str) -> Result<(), FileProblem> {
        self.read(path, state, text, Origin::File).map(drop)
    }
}

impl ProfileEntries {
    /// The profiles of a text, checked.
    fn read(
        &self,
        path: &Path,
        state: &BTreeMap<String, ProfileSettings>,
        text: &str,
        origin: Origin,
    ) -> Result<BTreeMap<String, ProfileSettings>, FileProblem> {
        let malformed = |error: &serde_json::Error, field: String| {
            FileProblem::malformed(path, error, field, (1, 1), <Self as Entries>::EMPTY)
        };
        let mut reader = serde_json::Deserializer::from_str(text);
        let File { profiles } = serde_path_to_error::deserialize(&mut reader)
            .map_err(|error| malformed(error.inner(), error.path().to_string()))?;
        reader.end().map_err(|error| malformed(&error, String::new()))?;
        // A name twice: which one counts would be a guess.
        serde_json::from_str::<UniqueKeys>(text).map_err(|error| malformed(&error, String::new()))?;
        for (name, settings) in &profiles {
            self.check(name, settings, state.get(name), origin).map_err(|(message, remedy)| {
                let (line, column) = place_of(text, text.find(&format!("\"{name}\"")).unwrap_or(0));
                let field = format!("profiles.{name}");
                FileProblem { line, column, field, ..FileProblem::whole(path, message, remedy) }
            })?;
        }
        Ok(profiles)
    }
}
