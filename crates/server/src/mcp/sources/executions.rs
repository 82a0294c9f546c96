//! The caller's own executions as resources; everybody's with `executions:read`.

use serde_json::{Value, json};
use toolroom_contract::ids::ExecutionId;
use toolroom_runtime::journal::{self, Execution};

use crate::log_reads::LogFailure;

use super::{
    Answering, Completes, Completing, Contents, Resource, ResourceTemplate, Source, SourceError, Visitor,
    ready,
};

pub(super) struct Executions;

const LATEST: &str = "toolroom://executions";
const PREFIX: &str = "toolroom://executions/";
const TEMPLATE: &str = "toolroom://executions/{id}";
/// How many are recent.
const MOST: usize = 50;

impl Source for Executions {
    fn resources<'a>(&'a self, _: Visitor<'a>) -> Answering<'a, Vec<Resource>> {
        ready(vec![Resource {
            more: Default::default(),
            uri: LATEST.into(),
            name: "executions".into(),
            title: Some("Recent executions".into()),
            description: Some("Your latest calls, newest first: tool, status, when and how long.".into()),
            mime_type: Some("application/json".into()),
            size: None,
        }])
    }

    fn templates(&self, _: Visitor<'_>) -> Vec<ResourceTemplate> {
        vec![ResourceTemplate {
            more: Default::default(),
            uri_template: TEMPLATE.into(),
            name: "execution".into(),
            title: None,
            description: Some("One of your calls: what went in, what came out, how it ended.".into()),
            mime_type: Some("application/json".into()),
        }]
    }

    fn read<'a>(&'a self, visitor: Visitor<'a>, uri: &'a str) -> Answering<'a, Option<Vec<Contents>>> {
        Box::pin(async move {
            if uri == LATEST {
                let rows = latest(visitor).await?;
                let rows: Vec<Value> = rows.iter().map(brief).collect();
                return Ok(Some(vec![Contents::json(uri, &json!({ "executions": rows }))]));
            }
            let Some(id) = uri.strip_prefix(PREFIX).and_then(|id| id.parse::<ExecutionId>().ok()) else {
                return Ok(None);
            };
            let found = visitor.app.read_log(move |reader| reader.get(id)).await.map_err(unavailable)?;
            let user = theirs(visitor);
            let found = found.filter(|row| visitor.principal.may_use_profile(&row.profile));
            let found = match user {
                None => found,
                Some(user) => found.filter(|row| row.concerns(&user)).map(Execution::for_its_caller),
            };
            Ok(found.map(|row| vec![Contents::json(uri, &row)]))
        })
    }

    fn complete<'a>(
        &'a self,
        visitor: Visitor<'a>,
        asked: Completing<'a>,
    ) -> Answering<'a, Option<Vec<String>>> {
        if asked.of != Completes::Template(TEMPLATE) || asked.argument != "id" {
            return ready(None);
        }
        Box::pin(async move {
            let rows = latest(visitor).await?;
            Ok(Some(rows.iter().map(|row| row.execution_id.to_string()).collect()))
        })
    }
}

/// Whose entries are shown; `None` is everybody's.
fn theirs(visitor: Visitor<'_>) -> Option<String> {
    let all = visitor.principal.grants.hold("executions", "read");
    (!all).then(|| visitor.principal.user.key.to_string())
}

async fn latest(visitor: Visitor<'_>) -> Result<Vec<Execution>, SourceError> {
    let user = theirs(visitor);
    let for_caller = user.is_some();
    let profiles = visitor.principal.profiles.clone();
    let query = journal::Query { user, profiles, for_caller, limit: MOST, ..journal::Query::default() };
    let page = visitor.app.read_log(move |reader| reader.page(&query)).await;
    Ok(page.map_err(unavailable)?.rows)
}

fn brief(row: &Execution) -> Value {
    json!({
        "uri": format!("{PREFIX}{}", row.execution_id),
        "tool": row.tool,
        "profile": row.profile,
        "user": row.user,
        "by": row.by,
        "status": row.status,
        "code": row.code,
        "startedAt": row.started_at,
        "durationMs": row.duration_ms,
    })
}

fn unavailable(failure: LogFailure) -> SourceError {
    SourceError::Unavailable(match failure {
        LogFailure::Cursor => "the log cannot be read from there".to_owned(),
        LogFailure::Failed(error) => error.message.to_string(),
    })
}
