//! The clients that we know: where each keeps its servers, and how it writes them.

use std::path::{Path, PathBuf};

use super::edit::Format;
use super::entry::{Form, Variable};

/// The name of our entry in every file.
pub(super) const NAME: &str = "toolroom";

/// A client whose file we can edit.
#[derive(Debug)]
pub(super) struct Client {
    /// On the command line.
    pub(super) id: &'static str,
    pub(super) name: &'static str,
    /// Where it may keep its servers: the first that is there, else the first.
    places: &'static [Place],
    /// What to do before it sees a change.
    pub(super) then: &'static str,
}

/// A file, and what is where in it.
#[derive(Debug)]
pub(super) struct Place {
    base: Base,
    file: &'static str,
    pub(super) format: Format,
    /// The objects above our entry.
    above: &'static [&'static str],
    pub(super) form: Form,
    pub(super) variable: Variable,
}

/// What a file's path begins with: a variable of the client if it is set, else a folder of the user.
#[derive(Debug)]
enum Base {
    /// The user's folder.
    Own,
    /// The same, unless this variable names another.
    Unless(&'static str, &'static str),
    /// Where programs keep their settings: `~/.config`, on macOS `~/Library/Application Support`.
    Settings,
    /// `~/.config`, on macOS too.
    Config,
}

const DOLLAR: Variable = Some(("${", "}"));
const DOLLAR_ENV: Variable = Some(("${env:", "}"));
const SERVERS: &[&str] = &["mcpServers"];

const fn json(
    base: Base,
    file: &'static str,
    above: &'static [&'static str],
    form: Form,
    variable: Variable,
) -> Place {
    Place { base, file, format: Format::Json, above, form, variable }
}

/// Every client, in the order of the help.
pub(super) const CLIENTS: &[Client] = &[
    Client {
        id: "claude-code",
        name: "Claude Code",
        places: &[json(Base::Unless("CLAUDE_CONFIG_DIR", ""), ".claude.json", SERVERS, Form::Typed, DOLLAR)],
        then: "Start a new session of Claude Code.",
    },
    Client {
        id: "claude-desktop",
        name: "Claude Desktop",
        places: &[
            json(Base::Settings, "Claude/claude_desktop_config.json", SERVERS, Form::StdioOnly, None),
            json(Base::Settings, "claude/claude_desktop_config.json", SERVERS, Form::StdioOnly, None),
        ],
        then: "Restart Claude Desktop.",
    },
    Client {
        id: "vscode",
        name: "VS Code",
        places: &[json(Base::Settings, "Code/User/mcp.json", &["servers"], Form::Typed, DOLLAR_ENV)],
        then: "VS Code asks whether to trust it, then starts it: 'MCP: List Servers'.",
    },
    Client {
        id: "cursor",
        name: "Cursor",
        places: &[json(Base::Own, ".cursor/mcp.json", SERVERS, Form::Plain, DOLLAR_ENV)],
        then: "Restart Cursor.",
    },
    Client {
        id: "codex",
        name: "Codex",
        places: &[Place {
            base: Base::Unless("CODEX_HOME", ".codex"),
            file: "config.toml",
            format: Format::Toml,
            above: &["mcp_servers"],
            form: Form::Codex,
            variable: None,
        }],
        then: "Start a new session of Codex.",
    },
    Client {
        id: "gemini",
        name: "Gemini CLI",
        places: &[json(Base::Own, ".gemini/settings.json", SERVERS, Form::Gemini, DOLLAR)],
        then: "Start Gemini CLI again, in a folder that it trusts.",
    },
    Client {
        id: "windsurf",
        name: "Windsurf (Devin Desktop)",
        places: &[
            json(Base::Config, "devin/mcp_config.json", SERVERS, Form::Devin, None),
            json(Base::Own, ".codeium/windsurf/mcp_config.json", SERVERS, Form::Windsurf, DOLLAR_ENV),
        ],
        then: "Refresh its list of MCP servers, or restart it.",
    },
    Client {
        id: "zed",
        name: "Zed",
        places: &[json(Base::Config, "zed/settings.json", &["context_servers"], Form::Plain, None)],
        then: "Zed reloads it by itself.",
    },
    Client {
        id: "opencode",
        name: "opencode",
        places: &[
            json(Base::Config, "opencode/opencode.json", &["mcp"], Form::Opencode, Some(("{env:", "}"))),
            json(Base::Config, "opencode/opencode.jsonc", &["mcp"], Form::Opencode, Some(("{env:", "}"))),
        ],
        then: "Start opencode again.",
    },
];

/// The files where a client may keep its servers.
pub fn client_files(id: &str) -> Vec<PathBuf> {
    Client::of(id).into_iter().flat_map(|client| client.places).map(Place::file).collect()
}

impl Client {
    /// The client of this name.
    pub(super) fn of(id: &str) -> Option<&'static Self> {
        CLIENTS.iter().find(|client| client.id == id)
    }

    /// The place to edit, and its file.
    pub(super) fn place(&self) -> (&'static Place, PathBuf) {
        let mut places = self.places.iter().map(|place| (place, place.file()));
        let there = places.clone().find(|(_, file)| file.exists());
        let folder = || places.clone().find(|(_, file)| file.parent().is_some_and(Path::exists));
        there.or_else(folder).or_else(|| places.next()).unwrap_or((&CLIENTS[0].places[0], PathBuf::new()))
    }

    /// What is where in a file of this client's.
    pub(super) fn place_of(&self, file: &Path) -> &'static Place {
        let named =
            |place: &&Place| place.file() == file || place.file().canonicalize().is_ok_and(|own| own == file);
        self.places.iter().find(named).unwrap_or(self.place().0)
    }
}

impl Place {
    fn file(&self) -> PathBuf {
        let own = std::env::home_dir().unwrap_or_default();
        let set = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
        let config = || set("XDG_CONFIG_HOME").unwrap_or_else(|| own.join(".config"));
        let base = match self.base {
            Base::Own => own,
            Base::Unless(variable, folder) => set(variable).unwrap_or_else(|| own.join(folder)),
            Base::Settings if cfg!(target_os = "macos") => own.join("Library/Application Support"),
            Base::Settings | Base::Config => config(),
        };
        base.join(self.file)
    }

    /// Where our entry is. opencode has a second shape, which a file keeps.
    pub(super) fn path(&self, text: &str) -> Vec<&'static str> {
        let mut path = self.above.to_vec();
        if self.form == Form::Opencode {
            let inner = self.format.find(text, &["mcp", "servers"]).ok().flatten();
            path.extend(
                inner.filter(|inner| inner.is_object() && inner.get("type").is_none()).map(|_| "servers"),
            );
        }
        path.push(NAME);
        path
    }
}
