//! The environment of a script: what its entry names, with variables and secrets put in when it is called.

use std::borrow::Cow;
use std::collections::BTreeMap;

use toolroom_contract::{ErrorCode, ToolError};
use toolroom_worker::ScriptSpec;

use crate::journal::Secrets;
use crate::secret_file::SecretFile;

const SECRET: &str = "secret:";

/// The script as it is started now, and the secrets that it is given. What is not set is named, with the command that
/// sets it.
pub(super) fn resolve<'a>(
    spec: &'a ScriptSpec,
    tool: &str,
) -> Result<(Cow<'a, ScriptSpec>, Secrets), ToolError> {
    let refers = |value: &String| value.starts_with(SECRET) || value.contains("${");
    if !spec.env.values().any(refers) {
        return Ok((Cow::Borrowed(spec), Secrets::default()));
    }
    let secrets = SecretFile::beside(&spec.root);
    let mut env = BTreeMap::new();
    for (name, value) in &spec.env {
        let value = match value.strip_prefix(SECRET) {
            Some(secret) => secrets
                .get(secret)
                .map_err(|error| not_set(tool, &format!("its secret cannot be read: {error}")))?
                .ok_or_else(|| {
                    not_set(
                        tool,
                        &format!("the secret '{secret}' is not set. Run: toolroom secrets set {secret}"),
                    )
                })?,
            None => toolroom_upstream::config::expand(value, &|name: &str| std::env::var(name).ok())
                .map_err(|why| not_set(tool, &why))?,
        };
        env.insert(name.clone(), value);
    }
    let named = spec.env.iter().filter(|(_, value)| value.starts_with(SECRET));
    let given = Secrets::of_values(named.filter_map(|(name, _)| env.get(name)));
    Ok((Cow::Owned(ScriptSpec { env, ..spec.clone() }), given))
}

fn not_set(tool: &str, what: &str) -> ToolError {
    ToolError::new(ErrorCode::NotConfigured, format!("'{tool}' was not run: {what}."))
}
