//! `[profiles.NAME]`: views of the catalogue that the home's owner defines, and a few settings of the built-in ones.

use std::collections::BTreeMap;
use std::path::Path;

use toolroom_profiles::{Profile, ProfileSettings, built_in};

use crate::failure::Failure;

/// The profiles of a home, checked.
#[derive(Clone, Debug, Default)]
pub struct Profiles(BTreeMap<String, ProfileSettings>);

impl Profiles {
    /// Checks what the file says.
    pub fn checked(settings: BTreeMap<String, ProfileSettings>, path: &Path) -> Result<Self, Failure> {
        let built_in = built_in();
        for (name, one) in &settings {
            let found = built_in.iter().find(|profile| profile.name == *name);
            let checked = match found {
                Some(profile) => one.check_built_in(profile),
                None => one.check(name),
            };
            checked.map_err(|(what, hint)| {
                Failure::new(format!("{}: [profiles.{name}] {what}", path.display()), hint)
            })?;
        }
        Ok(Self(settings))
    }

    /// The built-in profiles and those of the home.
    pub fn all(&self) -> Vec<Profile> {
        let mut profiles = built_in();
        for profile in &mut profiles {
            if let Some(settings) = self.0.get(&*profile.name) {
                settings.set(profile);
            }
        }
        let own: Vec<Profile> = self
            .0
            .iter()
            .filter(|(name, _)| !profiles.iter().any(|profile| profile.name == **name))
            .map(|(name, settings)| settings.profile(name))
            .collect();
        profiles.extend(own);
        profiles
    }
}
