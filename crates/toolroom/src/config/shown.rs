//! The settings in force, each with what set it. Secrets are left out.

use serde_json::Value;
use toolroom_server::{SetBy, Setting};
use toolroom_store::DatabaseUrl;

use super::settings_file::SettingsFile;
use super::{Config, Overrides};

/// What `toolroom.toml` says and leaves out, by the names of its tables and keys.
pub fn of_file(file: &SettingsFile, text: &str) -> Vec<Setting> {
    let given: Value = toml::from_str(text).unwrap_or_default();
    let mut settings = Vec::new();
    // The profiles have a page of their own.
    if let Ok(Value::Object(tables)) = serde_json::to_value(file) {
        for (name, value) in tables.into_iter().filter(|(name, _)| name != "profiles") {
            flatten(&name, value, given.get(&name), &mut settings);
        }
    }
    settings
}

fn flatten(name: &str, value: Value, given: Option<&Value>, settings: &mut Vec<Setting>) {
    match value {
        Value::Object(fields) => {
            for (key, value) in fields {
                flatten(&format!("{name}.{key}"), value, given.and_then(|given| given.get(&key)), settings);
            }
        }
        value => {
            let secret = name.ends_with("api_key");
            let from = if given.is_some() { SetBy::File } else { SetBy::Default };
            settings.push(Setting {
                name: name.to_owned(),
                value: if secret { Value::Null } else { value },
                from,
            });
        }
    }
}

/// With what flags and the environment override.
pub fn overridden(mut settings: Vec<Setting>, config: &Config, overrides: &Overrides) -> Vec<Setting> {
    let by_file =
        settings.iter().any(|setting| setting.name == "database.url" && setting.from == SetBy::File);
    let mut set = |name: &str, value: Value, from: SetBy| {
        if let Some(setting) = settings.iter_mut().find(|setting| setting.name == name) {
            (setting.value, setting.from) = (value, from);
        }
    };
    if let Some(listen) = overrides.listen {
        set("server.listen", listen.to_string().into(), SetBy::Flag);
    }
    if overrides.shared {
        set("database.shared", true.into(), SetBy::Flag);
    }
    let in_environment = |name: &str, value: &str| std::env::var(name).is_ok_and(|found| found == value);
    let database = |url: &DatabaseUrl| Value::from(url.to_string());
    match &overrides.database {
        Some(url) if in_environment("TOOLROOM_DATABASE", url) => {
            set("database.url", database(&config.database), SetBy::Environment);
        }
        Some(_) => set("database.url", database(&config.database), SetBy::Flag),
        // Shown without the password that it may hold.
        None => {
            let from = if by_file { SetBy::File } else { SetBy::Default };
            set("database.url", database(&config.database), from);
        }
    }
    if let Some(redis) = &config.redis {
        let from = match &overrides.redis {
            Some(url) if in_environment("TOOLROOM_REDIS", url) => SetBy::Environment,
            Some(_) => SetBy::Flag,
            None => SetBy::File,
        };
        set("database.redis", redis.to_string().into(), from);
    }
    let model = &overrides.model;
    for (name, value) in [
        ("search.url", overrides.search_url.clone()),
        ("model.base_url", model.base_url.clone()),
        ("model.name", model.name.clone()),
    ] {
        if let Some(value) = value {
            set(name, value.into(), SetBy::Environment);
        }
    }
    if model.api_key.is_some() {
        set("model.api_key", Value::Null, SetBy::Environment);
    }
    settings
}
