//! What an entry says: how to start `toolroom mcp`, or the address and the key, in the words of each client.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};

/// The variable that has the key where the file names one.
pub(super) const VARIABLE: &str = "TOOLROOM_KEY";

/// How a client reaches us.
#[derive(Clone, Debug)]
pub(super) enum Reach {
    /// It starts this program.
    Stdio(Vec<String>),
    /// It asks a running server.
    Http { url: String, key: Key },
}

/// The key in an entry.
#[derive(Clone, Debug)]
pub(super) enum Key {
    /// As it is; or what stands for it where people look.
    Literal(String),
    /// In a variable, which the client fills in.
    Variable,
}

/// What stands for a key where people look.
pub(super) const MASK: &str = "tr_********";

/// How a client writes an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    /// `command`, `args`; `url`, `headers`.
    Plain,
    /// The same, with a `type`.
    Typed,
    /// The first half of `Plain`.
    StdioOnly,
    /// `httpUrl`.
    Gemini,
    /// `url` and `transport`.
    Devin,
    /// `serverUrl`.
    Windsurf,
    /// `command` is a list; `local` and `remote`.
    Opencode,
    /// `http_headers`, `bearer_token_env_var`.
    Codex,
    /// `type: local`, and which tools.
    Copilot,
    /// `type: streamableHttp`.
    Cline,
}

/// How a client names a variable in a file: what stands before and after its name.
pub(super) type Variable = Option<(&'static str, &'static str)>;

impl Form {
    /// The entry, or why there can be none.
    pub(super) fn entry(self, reach: &Reach, variable: Variable) -> Result<Value, &'static str> {
        match reach {
            Reach::Stdio(words) => Ok(self.stdio(words)),
            Reach::Http { .. } if self == Self::StdioOnly => {
                Err("it starts its servers, and takes no address")
            }
            Reach::Http { url, key: Key::Variable } if self == Self::Codex => {
                Ok(json!({ "url": url, "bearer_token_env_var": VARIABLE }))
            }
            Reach::Http { url, key } => {
                let key = match (key, variable) {
                    (Key::Literal(key), _) => key.clone(),
                    (Key::Variable, Some((before, after))) => format!("{before}{VARIABLE}{after}"),
                    (Key::Variable, None) => return Err("it fills in no variables"),
                };
                Ok(self.http(url, &format!("Bearer {key}")))
            }
        }
    }

    fn stdio(self, words: &[String]) -> Value {
        let (command, args) = words.split_first().map_or(("", words), |(first, rest)| (first.as_str(), rest));
        match self {
            Self::Typed => json!({ "type": "stdio", "command": command, "args": args }),
            Self::Opencode => json!({ "type": "local", "command": words }),
            Self::Copilot => json!({ "type": "local", "command": command, "args": args, "tools": ["*"] }),
            _ => json!({ "command": command, "args": args }),
        }
    }

    fn http(self, url: &str, authorization: &str) -> Value {
        let headers = json!({ "Authorization": authorization });
        match self {
            Self::Plain | Self::StdioOnly => json!({ "url": url, "headers": headers }),
            Self::Typed => json!({ "type": "http", "url": url, "headers": headers }),
            Self::Gemini => json!({ "httpUrl": url, "headers": headers }),
            Self::Devin => json!({ "url": url, "transport": "http", "headers": headers }),
            Self::Windsurf => json!({ "serverUrl": url, "headers": headers }),
            // It would try to log in by OAuth otherwise.
            Self::Opencode => json!({ "type": "remote", "url": url, "headers": headers, "oauth": false }),
            Self::Codex => json!({ "url": url, "http_headers": headers }),
            Self::Copilot => json!({ "type": "http", "url": url, "headers": headers, "tools": ["*"] }),
            Self::Cline => json!({ "type": "streamableHttp", "url": url, "headers": headers }),
        }
    }
}

/// The words that start `toolroom mcp` on a home. The path is whole, because desktop programs lack the shell's PATH;
/// after `uvx` or `npx` it is that command, because what they unpack does not stay.
pub(super) fn start_words(home: &Path, profile: &str) -> Vec<String> {
    let mut words = std::env::current_exe().map_or_else(|_| vec!["toolroom".to_owned()], program_words);
    words.extend(["--home".to_owned(), home.display().to_string()]);
    words.extend(["mcp", "--profile", profile].map(str::to_owned));
    words
}

fn program_words(program: PathBuf) -> Vec<String> {
    let within = |folder: &str| program.components().any(|part| part.as_os_str() == folder);
    let found = |name: &str| {
        let paths = std::env::var_os("PATH").unwrap_or_default();
        let whole = std::env::split_paths(&paths).map(|folder| folder.join(name)).find(|path| path.is_file());
        whole.map_or_else(|| name.to_owned(), |path| path.display().to_string())
    };
    if within("_npx") {
        vec![found("npx"), "-y".to_owned(), "toolroom".to_owned()]
    } else if within("archive-v0") || within("builds-v0") {
        vec![found("uvx"), "toolroom".to_owned()]
    } else {
        vec![program.display().to_string()]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_uvx_and_npx_unpack_is_not_named() {
        let words = |path: &str| program_words(PathBuf::from(path));
        assert_eq!(words("/usr/bin/toolroom"), ["/usr/bin/toolroom"]);
        let uvx = words("/x/cache/uv/archive-v0/x7/bin/toolroom");
        assert!(uvx[0].ends_with("uvx") && uvx[1] == "toolroom", "{uvx:?}");
        let npx = words("/x/npm/_npx/1a/node_modules/toolroom-linux-x64/bin/toolroom");
        assert!(npx[0].ends_with("npx") && npx[1..] == ["-y", "toolroom"], "{npx:?}");
    }
}
