//! The built-in tools on a scratch folder, and a caller.

use std::collections::HashMap;
use std::sync::Arc;

use jiff::tz::TimeZone;
use serde_json::{Map, Value};
use tempfile::TempDir;
use toolroom_contract::check::{Stage, check};
use toolroom_contract::context::CommitHook;
use toolroom_contract::entry::EntryLimits;
use toolroom_contract::ids::{ExecutionId, UserId};
use toolroom_contract::validator::Validator;
use toolroom_contract::{
    Answer, CheckOutcome, Ending, ErrorCode, Grants, Handler, Principal, Reporter, ToolContext,
    ToolDefinition, ToolError, TraceId, User,
};
use toolroom_packs::builtin::search::SearchSettings;
use toolroom_packs::builtin::{BuiltinSettings, tools};
use toolroom_worker::{Sandbox, Scripts, Settings};

pub struct TestTools {
    pub tools: HashMap<String, (ToolDefinition, Arc<dyn Handler>)>,
    pub folder: TempDir,
    pub context: ToolContext,
}

impl TestTools {
    pub fn new(search: Option<SearchSettings>) -> Self {
        Self::limited(search, &EntryLimits::default())
    }

    pub fn limited(search: Option<SearchSettings>, limits: &EntryLimits) -> Self {
        Self::furnish(search, limits, |sandbox| sandbox)
    }

    /// With a sandbox that is changed like this.
    pub fn confined(change: impl FnOnce(Sandbox) -> Sandbox) -> Self {
        Self::furnish(None, &EntryLimits::default(), change)
    }

    fn furnish(
        search: Option<SearchSettings>,
        limits: &EntryLimits,
        change: impl FnOnce(Sandbox) -> Sandbox,
    ) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let scripts = Scripts::new(Settings::from_environment());
        let sandbox = change(Sandbox::new(scripts, folder.path().join("code")));
        let settings = BuiltinSettings { sandbox, search };
        let all = tools(settings).into_iter();
        let tools =
            all.map(|(definition, make)| (definition.name.clone(), (definition, make(limits)))).collect();
        Self { tools, folder, context: context() }
    }

    /// The ending of a call whose parameters fit the schema; data must fit the output schema.
    pub async fn end(&self, tool: &str, params: Value) -> Ending {
        let (definition, handler) = &self.tools[tool];
        let refusals = Validator::compile(&definition.parameters).unwrap().refusals(&params);
        if !refusals.is_empty() {
            let mut error = ToolError::new(ErrorCode::InvalidInput, "the schema refuses");
            error.details = refusals;
            return Ending::Failed(error);
        }
        let ending = handler.call(&params, &self.context).await;
        if let Ending::Done(answer) = &ending {
            let output = Validator::compile(definition.output.as_ref().unwrap()).unwrap();
            assert!(output.accepts(&answer.data), "{:?} in {}", output.refusals(&answer.data), answer.data);
        }
        ending
    }

    pub async fn call(&self, tool: &str, params: Value) -> Answer {
        match self.end(tool, params).await {
            Ending::Done(answer) => answer,
            other => panic!("{tool}: {other:?}"),
        }
    }

    pub async fn refused(&self, tool: &str, params: Value) -> ToolError {
        match self.end(tool, params).await {
            Ending::Failed(error) => error,
            other => panic!("{tool}: {other:?}"),
        }
    }
}

#[tokio::test]
async fn every_contract_passes_the_checklist_of_native_tools() {
    let tools = TestTools::new(None);
    let mut found: Vec<(&str, &str)> =
        tools.tools.values().map(|(one, _)| (one.name.as_str(), one.permissions[0].as_str())).collect();
    found.sort_unstable();
    assert_eq!(
        found,
        [
            ("execute-code", "code:execute"),
            ("request-human-input", "humans:ask"),
            ("search-web", "web:search")
        ]
    );
    for (definition, _) in tools.tools.values() {
        let findings = check(definition, Stage::Native);
        let bad: Vec<_> =
            findings.iter().filter(|finding| finding.outcome >= CheckOutcome::Derived).collect();
        assert!(bad.is_empty(), "{}: {bad:?}", definition.name);
        for words in ["Use it ", "Do not use it "] {
            assert!(definition.description.contains(words), "{}: {words}", definition.name);
        }
    }
}

fn context() -> ToolContext {
    let user = User { id: UserId(1), key: "anna".into() };
    let caller = Principal {
        user: user.clone(),
        grants: Grants::all(),
        profiles: None,
        person: false,
        key: None,
        time_zone: None,
        revoked: Default::default(),
    };
    ToolContext {
        profile: "default".into(),
        execution_id: ExecutionId::default(),
        user: Some(user),
        caller: Arc::new(caller),
        session_id: None,
        correlation_id: "test".into(),
        trace_id: TraceId::new(),
        agent_id: "test".into(),
        agent_version: "1".into(),
        timestamp: jiff::Timestamp::now(),
        time_zone: TimeZone::UTC,
        metadata: Map::new(),
        answer: None,
        client: None,
        claim: None,
        committed: CommitHook::default(),
        gate: Default::default(),
        reporter: Reporter::default(),
    }
}
