//! Runs one published tool by hand: trim, schema, input map, and the output map on a hand-made result.

use std::sync::Arc;

use jiff::tz::TimeZone;
use serde_json::{Value, json};
use toolroom_contract::error::ErrorBody;
use toolroom_contract::ids::UserId;
use toolroom_contract::validator::Validator;
use toolroom_contract::{ErrorCode, ToolError, ToolResult, User};
use toolroom_profiles::{Binding, Caller, Input, Profile, Published, Tools, built_in};

/// A published tool, and who calls it.
pub struct PublishedClient {
    pub binding: Binding,
    pub user: User,
    pub time_zone: TimeZone,
}

/// The tool of a built-in profile.
pub fn client(profile: &str, tool: &str) -> PublishedClient {
    let user = User { id: UserId(456), key: Arc::from("user-abc-123") };
    let binding = bindings(profile).into_iter().find(|binding| binding.name == tool).unwrap();
    PublishedClient { binding, user, time_zone: TimeZone::UTC }
}

/// The tools of a built-in profile.
pub fn bindings(profile: &str) -> Vec<Binding> {
    let found: Profile = built_in().into_iter().find(|each| each.name == profile).unwrap();
    match found.tools {
        Tools::Listed(bindings) => bindings,
        Tools::Picked(picked) => picked.listed,
        Tools::Whole => panic!("{profile} lists no tools"),
    }
}

impl PublishedClient {
    pub fn in_zone(mut self, zone: &str) -> Self {
        self.time_zone = TimeZone::get(zone).unwrap();
        self
    }

    /// The canonical parameters of a call.
    pub fn input(&self, params: Value) -> Result<Input, ToolError> {
        let trimmed = self.trim(params);
        let refusals = Validator::compile(&self.binding.parameters).unwrap().refusals(&trimmed);
        if !refusals.is_empty() {
            let mut error = ToolError::new(ErrorCode::InvalidInput, "The parameters do not fit.");
            error.details = refusals;
            return Err(error);
        }
        (self.binding.input)(&trimmed, &Caller { user: &self.user, time_zone: &self.time_zone })
    }

    /// The published text for a call that succeeded with this data.
    pub fn answer(&self, params: Value, data: Value) -> String {
        self.publish(&params, &result("data", data)).to_string()
    }

    /// The published text for a call that failed so.
    pub fn failure(&self, params: Value, error: &ToolError) -> String {
        self.publish(&params, &failed(error)).to_string()
    }

    /// The published text for a call that the profile itself refuses.
    pub fn refusal(&self, params: Value) -> String {
        let error = self.input(params.clone()).expect_err("the call should be refused");
        self.failure(params, &error)
    }

    pub fn publish(&self, params: &Value, result: &ToolResult) -> Value {
        self.publish_to(params, result, true)
    }

    /// With blocks of content beside it, or `alone`.
    pub fn publish_to(&self, params: &Value, result: &ToolResult, alone: bool) -> Value {
        let call = Published { params, result, user: &self.user, time_zone: &self.time_zone, alone };
        (self.binding.output)(&call)
    }

    fn trim(&self, mut params: Value) -> Value {
        for name in self.binding.trimmed {
            if let Some(Value::String(text)) = params.get_mut(*name) {
                *text = text.trim().to_owned();
            }
        }
        params
    }
}

/// The result of a call that failed so.
pub fn failed(error: &ToolError) -> ToolResult {
    result("error", serde_json::to_value(ErrorBody::of(error, false)).unwrap())
}

/// There is no such task.
pub fn not_found() -> ToolError {
    ToolError::new(ErrorCode::NotFound, "There is no task 42.")
}

/// JSON as it is written without spaces, in the same order.
pub fn compact(text: &str) -> String {
    serde_json::from_str::<Value>(text).unwrap().to_string()
}

/// A canonical task; `with` overrides fields.
pub fn task(with: Value) -> Value {
    let mut task = json!({
        "taskId": 123, "title": "Buy milk", "description": null, "priority": "medium", "due": null,
        "status": "pending", "tags": ["home"], "version": 1,
        "createdAt": "2026-01-27T10:00:00.123456Z", "updatedAt": "2026-01-27T10:00:00.999999Z",
        "completedAt": null
    });
    for (name, value) in with.as_object().unwrap() {
        task[name] = value.clone();
    }
    task
}

pub fn result(kind: &str, body: Value) -> ToolResult {
    let mut envelope = json!({
        "agentHints": {
            "suggestedNextActions": [], "relatedResources": [], "confidence": 1.0,
            "sourceQuality": "high", "validityPeriod": "immediate", "contextNeeded": [],
            "assumptions": [], "riskFactors": [], "dependencies": [],
            "estimatedImpact": { "benefit": 0.0, "effort": 0.0, "roi": 0.0 }, "preferenceAlignment": []
        },
        "metadata": {
            "toolVersion": "1.0.0", "timestamp": "2026-02-02T14:00:00Z", "executionTime": 1.0,
            "serviceVersion": "0.1.0"
        }
    });
    envelope[kind] = body;
    serde_json::from_value(envelope).unwrap()
}
