//! `toolroom doctor --prune`: removes what the cache has of tools that are gone.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use toolroom_contract::entry::EntryKind;

use super::finding::Finding;
use crate::home::{Home, registry_files};
use crate::wiring;

/// Removes environments that no script asks for, and modules of other releases.
pub async fn prune(home: &Home) -> Finding {
    let remedy = "Fix that, then try again; nothing was removed.";
    let used = match in_use(home).await {
        Ok(used) => used,
        Err(reason) => return Finding::fail("cache", reason, remedy),
    };
    let cache = home.cache();
    let is_modules = |path: &PathBuf| name(path).starts_with("modules-");
    let found = folders(&cache.join("environments")).into_iter().filter(|path| !name(path).starts_with('.'));
    let found = found.chain(folders(&cache).into_iter().filter(is_modules));
    let (mut count, mut bytes) = (0, 0);
    for folder in found.filter(|folder| folder.canonicalize().is_ok_and(|folder| !used.contains(&folder))) {
        let size = size(&folder);
        match fs::remove_dir_all(&folder) {
            Ok(()) => (count, bytes) = (count + 1, bytes + size),
            Err(error) => {
                let detail = format!("{} cannot be removed: {error}", folder.display());
                return Finding::fail("cache", detail, "Remove it yourself.");
            }
        }
    }
    Finding::ok("cache", format!("pruned {count} folders, {} MiB", bytes >> 20))
}

/// The folders that scripts of tools.json need, and the modules of this release.
async fn in_use(home: &Home) -> Result<BTreeSet<PathBuf>, String> {
    let path = home.tools();
    let entries = registry_files::read_tools(&path).map_err(|failure| failure.to_string())?;
    let scripts = wiring::scripts(home, None);
    let mut used = BTreeSet::new();
    let modules = scripts.module_folders().await.map_err(|error| error.to_string())?;
    used.extend(modules.iter().filter_map(|(python, _)| python.parent()?.canonicalize().ok()));
    for entry in entries.iter().map(|one| &one.entry).filter(|entry| entry.kind == EntryKind::Local) {
        let Some(file) = &entry.config.script_path else { continue };
        let Ok(text) = fs::read_to_string(path.with_file_name(file)) else { continue };
        // What is not installed is no reason to keep anything.
        used.extend(scripts.environment(file, &text).await.ok().flatten());
    }
    Ok(used)
}

fn folders(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    entries
        .filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()))
        .map(|entry| entry.path())
        .collect()
}

fn name(path: &Path) -> &str {
    path.file_name().and_then(|name| name.to_str()).unwrap_or_default()
}

fn size(folder: &Path) -> u64 {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let sizes = entries.map(|entry| match entry.metadata() {
        Ok(found) if found.is_dir() => size(&entry.path()),
        Ok(found) => found.len(),
        Err(_) => 0,
    });
    sizes.sum()
}
