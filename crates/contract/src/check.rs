//! The verification checklist of the contract, line by line.

use jiff::civil::Date;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use crate::definition::{Category, Deprecation, RateLimit, ToolDefinition, Varies};
use crate::validator::Validator;

/// How strictly a definition is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// Our own: every line must pass, or the process does not start.
    Native,
    /// Someone else's, being registered on that day: what others rely on must pass, the rest is advice.
    Registering(Date),
    /// Someone else's, registered earlier.
    Loaded,
}

/// How a line of the checklist came out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(rename = "ChecklistOutcome")]
pub enum Outcome {
    /// It passes.
    Pass,
    /// It passes for every tool, because the pipeline ensures it.
    Guaranteed,
    /// The author left it out, and Toolroom filled it in on the safe side.
    Derived,
    /// It could be better.
    Advice,
    /// It fails.
    Fail,
}

/// One line of the checklist, for one tool.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(rename = "ChecklistFinding")]
pub struct Finding {
    /// The line.
    pub line: &'static str,
    /// How it came out.
    pub outcome: Outcome,
    /// What is missing, and where.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// The field of the definition that the line is about; empty where it is about none.
    #[serde(skip)]
    pub field: &'static str,
}

/// The whole checklist for one definition, in the order of the contract.
pub fn check(definition: &ToolDefinition, stage: Stage) -> Vec<Finding> {
    let mut list = Checklist { stage, findings: Vec::with_capacity(32), derived: &definition.derived };
    list.must("Tool has unique name in kebab-case", name(definition, stage), "name");
    list.should("Description is clear and complete (>50 chars)", description(definition), "description");
    list.must("All parameters validated with a JSON Schema", parameters(definition), "parameters");
    list.should("Each parameter is described and bounded", bounds(definition), "parameters");
    list.must("Permissions array defined", Ok(()), "permissions");
    list.must("Category specified", Ok(()), "category");
    list.must("responseTime specified", timeout(definition), "responseTime");
    list.must("cacheable flag set correctly", cacheable(definition), "cacheable");
    list.must("cacheTTL set if cacheable", cache_ttl(definition), "cacheTTL");
    list.must("idempotent flag set correctly", Ok(()), "idempotent");
    list.must("destructive flag set correctly", destructive(definition), "destructive");
    list.must("Effect is usable, where one is stated", crate::effect::check(definition), "effect");
    list.should("At least 1 example provided", examples(definition), "examples");
    list.should("At least 1 tag provided", tags(definition), "tags");
    list.must("Rate limit is usable", rate_limit(definition), "rateLimit");
    list.must(
        "Deprecation names a replacement, and a removal date 90 days ahead",
        deprecation(definition, stage),
        "deprecated",
    );
    list.must("Output schema is usable", output(definition, stage), "output");
    for line in GUARANTEED {
        list.findings.push(Finding { line, outcome: Outcome::Guaranteed, message: None, field: "" });
    }
    list.findings
}

/// Whether nothing of a checklist failed.
pub fn passes(findings: &[Finding]) -> bool {
    findings.iter().all(|finding| finding.outcome != Outcome::Fail)
}

/// Lines that the pipeline ensures for every tool, whatever its author wrote.
const GUARANTEED: &[&str] = &[
    "Handler returns ToolResult structure",
    "agentHints ALWAYS included in response",
    "agentHints.confidence calculated (not hardcoded)",
    "agentHints.sourceQuality specified",
    "agentHints.validityPeriod specified",
    "agentHints.contextNeeded array present (can be empty)",
    "agentHints.assumptions array present (can be empty)",
    "agentHints.riskFactors array present (can be empty)",
    "agentHints.dependencies array present (can be empty)",
    "agentHints.estimatedImpact object present with benefit/effort/roi",
    "agentHints.preferenceAlignment array present (can be empty)",
    "agentHints.reasoning included (strongly recommended)",
    "All metadata fields populated",
    "Error handling implemented",
    "Logging added",
    "Metrics emitted",
    "Tool registered in ToolRegistry",
];

type Verdict = Result<(), String>;

struct Checklist<'a> {
    stage: Stage,
    findings: Vec<Finding>,
    derived: &'a [String],
}

impl Checklist<'_> {
    fn must(&mut self, line: &'static str, verdict: Verdict, field: &'static str) {
        self.note(line, verdict, field, Outcome::Fail);
    }

    /// A failure for our own tools, advice for other people's.
    fn should(&mut self, line: &'static str, verdict: Verdict, field: &'static str) {
        let worst = if self.stage == Stage::Native { Outcome::Fail } else { Outcome::Advice };
        self.note(line, verdict, field, worst);
    }

    fn note(&mut self, line: &'static str, verdict: Verdict, field: &'static str, worst: Outcome) {
        let derived = self.derived.iter().any(|name| name == field);
        let (outcome, message) = match verdict {
            Ok(()) if derived => (Outcome::Derived, Some(format!("'{field}' was filled in"))),
            Ok(()) => (Outcome::Pass, None),
            Err(message) => (worst, Some(message)),
        };
        self.findings.push(Finding { line, outcome, message, field });
    }
}

fn require(holds: bool, message: impl FnOnce() -> String) -> Verdict {
    if holds { Ok(()) } else { Err(message()) }
}

/// Names that no client refuses; ours are also kebab-case `verb-noun`.
fn name(definition: &ToolDefinition, stage: Stage) -> Verdict {
    let name = &definition.name;
    let fits = (1..=64).contains(&name.len())
        && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_' || b == b'-');
    require(fits, || format!("'{name}' must have 1 to 64 of the characters A-Z a-z 0-9 _ -"))?;
    let kebab = name.split('-').count() >= 2
        && name.split('-').all(|word| {
            !word.is_empty() && word.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit())
        });
    require(kebab || stage != Stage::Native, || format!("'{name}' must read verb-noun in kebab-case"))
}

fn description(definition: &ToolDefinition) -> Verdict {
    let text = definition.description.trim();
    let length = text.chars().count();
    require(length >= 50, || format!("the description has {length} characters, at least 50 are needed"))?;
    let lower = text.to_lowercase();
    require(["use ", "when ", "for "].iter().any(|word| lower.contains(word)), || {
        "the description must say when to use the tool".into()
    })?;
    require(lower.contains("return") || lower.contains("answer") || lower.contains("gives"), || {
        "the description must say what the tool returns".into()
    })
}

fn parameters(definition: &ToolDefinition) -> Verdict {
    let schema = &definition.parameters;
    Validator::compile(schema).map_err(|error| format!("parameters: {error}"))?;
    require(schema.get("type").and_then(Value::as_str) == Some("object"), || {
        "parameters: the schema must have \"type\": \"object\"".into()
    })
}

fn bounds(definition: &ToolDefinition) -> Verdict {
    let properties = definition.parameters.get("properties").and_then(Value::as_object);
    for (name, property) in properties.into_iter().flatten() {
        let has = |keyword: &str| property.get(keyword).is_some();
        require(has("description"), || format!("parameter '{name}' has no description"))?;
        let closed = ["enum", "const", "$ref", "anyOf", "oneOf"].iter().any(|keyword| has(keyword));
        let is = |wanted: &str| match property.get("type") {
            Some(Value::String(one)) => one == wanted,
            Some(Value::Array(many)) => many.iter().any(|one| one == wanted),
            _ => false,
        };
        if closed {
            continue;
        }
        require(
            !is("string") || ["maxLength", "format", "pattern"].iter().any(|keyword| has(keyword)),
            || format!("parameter '{name}' has no maxLength, format or pattern"),
        )?;
        require(!(is("integer") || is("number")) || (has("minimum") && has("maximum")), || {
            format!("parameter '{name}' has no minimum and maximum")
        })?;
        require(!is("array") || has("maxItems"), || format!("parameter '{name}' has no maxItems"))?;
    }
    let closed = ["additionalProperties", "unevaluatedProperties"]
        .iter()
        .any(|keyword| definition.parameters.get(keyword) == Some(&Value::Bool(false)));
    require(closed, || "parameters: unknown fields are accepted; set \"additionalProperties\": false".into())
}

fn timeout(definition: &ToolDefinition) -> Verdict {
    require(definition.timeout.is_none_or(|seconds| seconds > 0.0 && seconds <= 3600.0), || {
        "timeout must be above 0 and at most 3600 seconds".into()
    })
}

fn cacheable(definition: &ToolDefinition) -> Verdict {
    require(!(definition.cacheable && definition.category == Category::Mutation), || {
        "a mutation must not be cacheable".into()
    })
}

fn cache_ttl(definition: &ToolDefinition) -> Verdict {
    match (definition.cacheable, definition.cache_ttl) {
        (true, None | Some(0)) => Err("cacheTTL must be above 0 seconds, because cacheable is true".into()),
        (false, Some(_)) => Err("cacheTTL has no meaning, because cacheable is false".into()),
        _ => Ok(()),
    }
}

fn destructive(definition: &ToolDefinition) -> Verdict {
    require(!(definition.destructive && definition.category != Category::Mutation), || {
        "only a mutation can be destructive".into()
    })
}

fn examples(definition: &ToolDefinition) -> Verdict {
    require(!definition.examples.is_empty(), || "no example".into())?;
    let Ok(validator) = Validator::compile(&definition.parameters) else { return Ok(()) };
    let output = definition.output.as_ref().and_then(|schema| Validator::compile(schema).ok());
    for (at, example) in definition.examples.iter().enumerate() {
        require(!example.description.trim().is_empty(), || format!("examples/{at} has no description"))?;
        let refusals = validator.refusals(&Value::Object(example.params.clone()));
        if let Some(first) = refusals.first() {
            return Err(format!("examples/{at}/params{}: {}", first.pointer, first.message));
        }
        require(!example.expected_result.is_null(), || format!("examples/{at} has no expectedResult"))?;
        if let Some(first) =
            output.as_ref().and_then(|output| output.refusals(&example.expected_result).into_iter().next())
        {
            return Err(format!("examples/{at}/expectedResult{}: {}", first.pointer, first.message));
        }
        for (pointer, varies) in &example.varies {
            let fits = match example.expected_result.pointer(pointer) {
                Some(value) => varies.accepts(value),
                None => *varies == Varies::Any,
            };
            require(fits, || format!("examples/{at}/varies: expectedResult has nothing at '{pointer}'"))?;
        }
    }
    Ok(())
}

fn tags(definition: &ToolDefinition) -> Verdict {
    require(definition.tags.iter().any(|tag| !tag.trim().is_empty()), || "no tag".into())
}

fn rate_limit(definition: &ToolDefinition) -> Verdict {
    let usable =
        |limit: RateLimit| limit.max_calls > 0 && (1..=RateLimit::LONGEST_MS).contains(&limit.window_ms);
    require(definition.rate_limit.is_none_or(usable), || {
        "rateLimit: maxCalls and windowMs must be above 0, and windowMs at most a day".into()
    })
}

fn deprecation(definition: &ToolDefinition, stage: Stage) -> Verdict {
    let Some(deprecated) = &definition.deprecated else { return Ok(()) };
    require(!deprecated.replacement.trim().is_empty() && deprecated.replacement != definition.name, || {
        "deprecated: name another tool as the replacement".into()
    })?;
    let Stage::Registering(today) = stage else { return Ok(()) };
    let notice = today.until(deprecated.removal_date).map(|span| span.get_days()).unwrap_or(i32::MIN);
    require(notice >= Deprecation::NOTICE_DAYS, || {
        format!(
            "deprecated: removalDate must be at least {} days ahead, it is {notice}",
            Deprecation::NOTICE_DAYS
        )
    })
}

fn output(definition: &ToolDefinition, stage: Stage) -> Verdict {
    match &definition.output {
        Some(schema) => Validator::compile(schema).map(drop).map_err(|error| format!("output: {error}")),
        None => require(stage != Stage::Native, || "no output schema".into()),
    }
}
