//! The verification checklist: each line is broken alone, and the finding names it.

use serde_json::{Value, json};
use toolroom_contract::check::{check, passes};
use toolroom_contract::definition::{Deprecation, RateLimit};
use toolroom_contract::{Category, CheckOutcome, Finding, Stage, ToolDefinition};

use crate::sample::sound;

const NAME: &str = "Tool has unique name in kebab-case";
const DESCRIPTION: &str = "Description is clear and complete (>50 chars)";
const PARAMETERS: &str = "All parameters validated with a JSON Schema";
const BOUNDS: &str = "Each parameter is described and bounded";
const TIME: &str = "responseTime specified";
const CACHEABLE: &str = "cacheable flag set correctly";
const CACHE_TTL: &str = "cacheTTL set if cacheable";
const DESTRUCTIVE: &str = "destructive flag set correctly";
const EXAMPLES: &str = "At least 1 example provided";
const TAGS: &str = "At least 1 tag provided";
const RATE_LIMIT: &str = "Rate limit is usable";
const DEPRECATION: &str = "Deprecation names a replacement, and a removal date 90 days ahead";
const OUTPUT: &str = "Output schema is usable";

fn today() -> Stage {
    Stage::Registering("2026-11-15".parse().unwrap())
}

/// Breaks a sound definition, and gives the one line that the checklist then finds fault with.
#[track_caller]
fn fault(stage: Stage, break_it: impl FnOnce(&mut ToolDefinition)) -> Finding {
    let mut definition = sound();
    break_it(&mut definition);
    let bad = |finding: &Finding| matches!(finding.outcome, CheckOutcome::Fail | CheckOutcome::Advice);
    let mut faults: Vec<Finding> = check(&definition, stage).into_iter().filter(bad).collect();
    assert_eq!(faults.len(), 1, "{faults:#?}");
    faults.remove(0)
}

/// A line that must hold for every tool, whoever made it.
#[track_caller]
fn must(line: &str, says: &str, break_it: fn(&mut ToolDefinition)) {
    for stage in [Stage::Native, today(), Stage::Loaded] {
        let found = fault(stage, break_it);
        assert_eq!((found.line, found.outcome), (line, CheckOutcome::Fail), "{found:?}");
        assert!(found.message.clone().unwrap().contains(says), "{found:?}");
    }
}

/// A line that must hold for our own tools and is advice for other people's.
#[track_caller]
fn should(line: &str, says: &str, break_it: fn(&mut ToolDefinition)) {
    let expected = [
        (Stage::Native, CheckOutcome::Fail),
        (today(), CheckOutcome::Advice),
        (Stage::Loaded, CheckOutcome::Advice),
    ];
    for (stage, outcome) in expected {
        let found = fault(stage, break_it);
        assert_eq!((found.line, found.outcome), (line, outcome), "{found:?}");
        assert!(found.message.clone().unwrap().contains(says), "{found:?}");
    }
}

#[test]
fn a_sound_definition_passes_at_every_stage() {
    for stage in [Stage::Native, today(), Stage::Loaded] {
        let findings = check(&sound(), stage);
        assert!(passes(&findings));
        let fine =
            |finding: &Finding| matches!(finding.outcome, CheckOutcome::Pass | CheckOutcome::Guaranteed);
        assert!(findings.iter().all(fine), "{findings:#?}");
    }
}

#[test]
fn name_must_fit_every_client() {
    must(NAME, "1 to 64", |tool| tool.name = "get card".into());
    must(NAME, "1 to 64", |tool| tool.name = String::new());
    must(NAME, "1 to 64", |tool| tool.name = format!("get-{}", "x".repeat(61)));
}

#[test]
fn name_of_our_own_tool_is_verb_noun_in_kebab_case_and_others_keep_theirs() {
    for name in ["get_card", "Get-Card", "card", "get-", "-card", "get--card"] {
        let found = fault(Stage::Native, |tool| tool.name = name.into());
        assert_eq!((found.line, found.outcome), (NAME, CheckOutcome::Fail), "{name}");
        let mut tool = sound();
        tool.name = name.into();
        assert!(passes(&check(&tool, today())), "{name}");
    }
}

#[test]
fn description_needs_fifty_characters_a_use_and_a_return() {
    should(DESCRIPTION, "49 characters", |tool| tool.description = pad("Use it. Returns a card", 49));
    should(DESCRIPTION, "when to use", |tool| tool.description = pad("Reads a card. Returns a card", 60));
    should(DESCRIPTION, "returns", |tool| tool.description = pad("Reads a card. Use it", 60));
    let mut tool = sound();
    tool.description = pad("Use it. Returns a card", 50);
    assert!(passes(&check(&tool, Stage::Native)));
}

/// White space at the ends does not count, so the filling is letters.
fn pad(text: &str, length: usize) -> String {
    format!("{text} {}", "x".repeat(length - text.chars().count() - 1))
}

#[test]
fn parameters_must_be_a_usable_schema_of_an_object() {
    must(PARAMETERS, "\"type\": \"object\"", |tool| {
        tool.parameters.as_object_mut().unwrap().shift_remove("type");
    });
    must(PARAMETERS, "not a usable JSON Schema", |tool| tool.parameters["type"] = json!("objekt"));
    must(PARAMETERS, "not a usable JSON Schema", |tool| {
        tool.parameters["$ref"] = json!("http://x.invalid/s")
    });
}

#[test]
fn each_parameter_is_described_and_bounded() {
    fn drop(tool: &mut ToolDefinition, pointer: &str, keyword: &str) {
        let place = tool.parameters.pointer_mut(pointer).and_then(Value::as_object_mut).unwrap();
        place.shift_remove(keyword).unwrap();
    }
    should(BOUNDS, "'cardId' has no description", |tool| drop(tool, "/properties/cardId", "description"));
    should(BOUNDS, "'cardId' has no minimum", |tool| drop(tool, "/properties/cardId", "minimum"));
    should(BOUNDS, "'cardId' has no minimum and maximum", |tool| drop(tool, "/properties/cardId", "maximum"));
    should(BOUNDS, "'fields' has no maxItems", |tool| drop(tool, "/properties/fields", "maxItems"));
    should(BOUNDS, "'note' has no maxLength", |tool| drop(tool, "/properties/note", "maxLength"));
    should(BOUNDS, "additionalProperties", |tool| drop(tool, "", "additionalProperties"));
    should(BOUNDS, "additionalProperties", |tool| tool.parameters = json!({ "type": "object" }));
}

#[test]
fn a_mutation_is_never_cacheable() {
    must(CACHEABLE, "mutation must not be cacheable", |tool| tool.category = Category::Mutation);
}

#[test]
fn cache_ttl_is_above_zero_exactly_if_cacheable() {
    must(CACHE_TTL, "above 0", |tool| tool.cache_ttl = None);
    must(CACHE_TTL, "above 0", |tool| tool.cache_ttl = Some(0));
    must(CACHE_TTL, "no meaning", |tool| tool.cacheable = false);
}

#[test]
fn only_a_mutation_is_destructive() {
    must(DESTRUCTIVE, "only a mutation", |tool| tool.destructive = true);
}

#[test]
fn timeout_is_above_zero_and_at_most_an_hour() {
    must(TIME, "at most 3600", |tool| tool.timeout = Some(0.0));
    must(TIME, "at most 3600", |tool| tool.timeout = Some(3600.5));
}

#[test]
fn at_least_one_example_that_fits_the_schema() {
    should(EXAMPLES, "no example", |tool| tool.examples.clear());
    should(EXAMPLES, "examples/0/params/cardId", |tool| {
        tool.examples[0].params.insert("cardId".into(), json!("abc"));
    });
    should(EXAMPLES, "examples/0/params/cardId", |tool| tool.examples[0].params.clear());
    should(EXAMPLES, "no description", |tool| tool.examples[0].description = " ".into());
    should(EXAMPLES, "no expectedResult", |tool| tool.examples[0].expected_result = Value::Null);
}

#[test]
fn at_least_one_tag() {
    should(TAGS, "no tag", |tool| tool.tags.clear());
    should(TAGS, "no tag", |tool| tool.tags = vec![" ".into()]);
}

#[test]
fn rate_limit_is_above_zero_and_its_window_at_most_a_day() {
    let limit = |max_calls, window_ms| Some(RateLimit { max_calls, window_ms });
    for bad in [limit(0, 1_000), limit(5, 0), limit(5, 86_400_001)] {
        for stage in [Stage::Native, today(), Stage::Loaded] {
            let found = fault(stage, |tool| tool.rate_limit = bad);
            assert_eq!((found.line, found.outcome), (RATE_LIMIT, CheckOutcome::Fail));
        }
    }
    let mut tool = sound();
    tool.rate_limit = limit(1, 86_400_000);
    assert!(passes(&check(&tool, Stage::Native)));
}

fn deprecated(replacement: &str, removal_date: &str) -> Option<Deprecation> {
    Some(Deprecation {
        since: "1.2.0".parse().unwrap(),
        replacement: replacement.into(),
        removal_date: removal_date.parse().unwrap(),
    })
}

#[test]
fn a_deprecated_tool_names_another_one() {
    must(DEPRECATION, "another tool", |tool| tool.deprecated = deprecated("get-card", "2030-01-01"));
    must(DEPRECATION, "another tool", |tool| tool.deprecated = deprecated(" ", "2030-01-01"));
}

#[test]
fn removal_is_at_least_ninety_days_off_when_registered_and_not_asked_again_when_loaded() {
    // 2026-11-15 and 89, 90 days.
    for (date, says) in [("2027-02-12", "it is 89"), ("2026-11-15", "it is 0"), ("2020-01-01", "it is -2510")]
    {
        let found = fault(today(), |tool| tool.deprecated = deprecated("get-card-v2", date));
        assert_eq!((found.line, found.outcome), (DEPRECATION, CheckOutcome::Fail));
        assert!(found.message.clone().unwrap().contains(says), "{found:?}");
        let mut tool = sound();
        tool.deprecated = deprecated("get-card-v2", date);
        assert!(passes(&check(&tool, Stage::Loaded)));
    }
    let mut tool = sound();
    tool.deprecated = deprecated("get-card-v2", "2027-02-13");
    assert!(passes(&check(&tool, today())));
}

#[test]
fn our_own_tools_have_an_output_schema_and_any_output_schema_is_usable() {
    let found = fault(Stage::Native, |tool| tool.output = None);
    assert_eq!((found.line, found.message.as_deref()), (OUTPUT, Some("no output schema")));
    let mut tool = sound();
    tool.output = None;
    assert!(passes(&check(&tool, today())) && passes(&check(&tool, Stage::Loaded)));
    must(OUTPUT, "output: not a usable", |tool| tool.output = Some(json!({ "type": 7 })));
}

#[test]
fn what_was_filled_in_is_shown_as_derived_and_passes() {
    let fields = ["permissions", "category", "responseTime", "cacheable", "idempotent", "examples", "tags"];
    for field in fields {
        let mut tool = sound();
        tool.derived = vec![field.into()];
        let findings = check(&tool, Stage::Loaded);
        let derived: Vec<&Finding> =
            findings.iter().filter(|finding| finding.outcome == CheckOutcome::Derived).collect();
        assert_eq!(derived.len(), 1, "{field}");
        assert_eq!(derived[0].message.as_deref(), Some(format!("'{field}' was filled in").as_str()));
        assert!(passes(&findings));
    }
}

#[test]
fn the_checklist_has_every_line_of_the_contract_that_a_definition_or_the_pipeline_can_show() {
    let findings = check(&sound(), Stage::Native);
    let lines: Vec<&str> = findings.iter().map(|finding| finding.line).collect();
    for line in [
        NAME,
        DESCRIPTION,
        PARAMETERS,
        "Permissions array defined",
        "Category specified",
        TIME,
        CACHEABLE,
        CACHE_TTL,
        "idempotent flag set correctly",
        EXAMPLES,
        TAGS,
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
    ] {
        assert!(lines.contains(&line), "{line}");
    }
    let json = serde_json::to_value(&findings[0]).unwrap();
    assert_eq!(json, json!({ "line": NAME, "outcome": "pass" }));
}
