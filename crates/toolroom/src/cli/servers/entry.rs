//! The arguments of `toolroom servers add`, and the entry of mcp.json that they become.

use anyhow::Result;
use clap::{Args, ValueEnum};
use serde_json::{Map, Value, json};
use toolroom_contract::text::shell_word;

use crate::failure::Failure;

pub const EXAMPLE: &str = "Example:
  toolroom servers add files -- npx -y server-filesystem /srv/files
  toolroom servers add docs --url https://example.com/mcp \\
    --header 'Authorization: Bearer ${DOCS_TOKEN}'
  toolroom servers add git --env 'TOKEN=${GIT_TOKEN}' --deny 'delete_*' \\
    -- uvx mcp-server-git

Write keys as ${VARIABLE}: they come from the environment of the running server, and appear neither in mcp.json
nor in the list of processes.";

/// A server to add.
#[derive(Debug, Args)]
pub struct Entry {
    /// Its name; its tools are called NAME__TOOL
    pub name: String,
    /// Connect to a running server at this URL
    #[arg(long, value_name = "URL", conflicts_with = "command")]
    url: Option<String>,
    /// The transport at the URL [default: detected]
    #[arg(long = "type", value_name = "T", requires = "url")]
    kind: Option<Kind>,
    /// A header for every request, as 'Name: value'
    #[arg(long, value_name = "H", requires = "url")]
    header: Vec<String>,
    /// A variable of the program's environment, as NAME=VALUE
    #[arg(long, value_name = "V")]
    env: Vec<String>,
    /// The program's working folder [default: the home]
    #[arg(long, value_name = "DIR")]
    cwd: Option<String>,
    /// Seconds that a call may take
    #[arg(long, value_name = "S")]
    timeout: Option<f64>,
    /// Use only tools of this name; * and ? are wildcards
    #[arg(long, value_name = "TOOL")]
    allow: Vec<String>,
    /// Leave out tools of this name
    #[arg(long, value_name = "TOOL")]
    deny: Vec<String>,
    /// Start the names of its tools with this instead of its name
    #[arg(long, value_name = "P")]
    prefix: Option<String>,
    /// Replace the server of that name, if there is one
    #[arg(long)]
    pub replace: bool,
    /// The program and its arguments, after --
    #[arg(last = true, value_name = "COMMAND")]
    command: Vec<String>,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Kind {
    Http,
    Sse,
}

impl Entry {
    /// The body of the request.
    pub fn body(&self) -> Result<Value> {
        let mut body = Map::new();
        body.insert("name".into(), self.name.clone().into());
        match (&self.url, self.command.as_slice()) {
            (Some(url), _) => {
                body.insert("url".into(), url.clone().into());
                // Who can write the home's files can name any address there.
                body.insert("allow_private".into(), true.into());
            }
            (None, [program, arguments @ ..]) => {
                body.insert("command".into(), program.clone().into());
                body.insert("args".into(), json!(arguments));
            }
            (None, []) => {
                return Err(Failure::usage(
                    "neither a program nor a URL is given",
                    format!(
                        "toolroom servers add {0} -- COMMAND, or: toolroom servers add {0} --url URL",
                        shell_word(&self.name)
                    ),
                )
                .into());
            }
        }
        let kind = self.kind.map(|kind| match kind {
            Kind::Http => "http",
            Kind::Sse => "sse",
        });
        let list = |list: &Vec<String>| (!list.is_empty()).then(|| json!(list));
        let fields = [
            ("type", kind.map(Value::from)),
            ("headers", pairs(&self.header, ':', "--header 'Name: value'")?),
            ("env", pairs(&self.env, '=', "--env NAME=VALUE")?),
            ("cwd", self.cwd.clone().map(Value::from)),
            ("timeout", self.timeout.map(Value::from)),
            ("allow", list(&self.allow)),
            ("deny", list(&self.deny)),
            ("prefix", self.prefix.clone().map(Value::from)),
        ];
        body.extend(fields.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?))));
        Ok(Value::Object(body))
    }
}

/// Names and values, as they are given one by one.
fn pairs(given: &[String], between: char, form: &str) -> Result<Option<Value>> {
    let mut found = Map::new();
    for one in given {
        let Some((name, value)) = one.split_once(between) else {
            let named = one.split(['=', ':']).next().unwrap_or_default();
            return Err(Failure::usage(format!("'{named}…' has no value"), format!("Write {form}.")).into());
        };
        found.insert(name.trim().to_owned(), value.trim().into());
    }
    Ok((!found.is_empty()).then_some(Value::Object(found)))
}
