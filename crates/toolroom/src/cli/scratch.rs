//! A scratch home, with the secrets and packages of the real one: tools are tried there before they are registered.

use anyhow::{Context, Result};
use http::Method;
use serde_json::json;
use tempfile::TempDir;
use toolroom_runtime::secret_file::SecretFile;

use super::Globals;
use super::tools::file::Given;
use crate::client::{Client, encoded};
use crate::config::Overrides;
use crate::home::Home;

/// A scratch home.
pub struct Scratch {
    /// Speaks with it.
    pub client: Client,
    _folder: TempDir,
}

impl Scratch {
    /// Makes one.
    pub async fn open(globals: &Globals) -> Result<Self> {
        let real = globals.home()?;
        let folder = tempfile::tempdir().context("cannot create a scratch folder")?;
        let (home, _) = Home::prepare(Some(&folder.path().join("home")), false)?;
        std::fs::create_dir_all(real.cache())?;
        // Sealed first: a key that was made in the scratch home would go with it.
        let secrets = SecretFile::new(real.secrets());
        secrets.check().context("the secrets of the home cannot be used")?;
        let packages = |home: &Home| home.root().join("tools/node_modules");
        let hosts = |home: &Home| home.secrets().with_file_name("secret_hosts.json");
        for (from, to) in [
            (real.cache(), home.cache()),
            (real.secrets(), home.secrets()),
            (secrets.key(), SecretFile::new(home.secrets()).key()),
            (hosts(&real), hosts(&home)),
            (packages(&real), packages(&home)),
        ] {
            if from.exists() {
                std::os::unix::fs::symlink(from, to).context("cannot fill the scratch home")?;
            }
        }
        let client = Client::open(&home, &Overrides::default()).await?;
        Ok(Self { client, _folder: folder })
    }

    /// Registers the tools of a file there.
    pub async fn register(&self, given: &Given) -> Result<()> {
        match given {
            Given::Script { name, text, .. } => {
                let place = format!("/api/v1/scripts/{}", encoded(name));
                let body = json!({ "text": text, "replace": true });
                self.client.request(Method::PUT, &place, Some(&body)).await?;
            }
            Given::Entries(entries) => {
                for entry in entries {
                    let place = format!("/api/v1/tools/{}", encoded(&entry.name));
                    self.client.request(Method::PUT, &place, Some(&entry.body)).await?;
                }
            }
        }
        Ok(())
    }
}
