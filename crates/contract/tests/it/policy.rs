//! What follows from a definition: retry, caching, slots, approval, timeout, annotations.

use std::time::Duration;

use toolroom_contract::confidence::Source;
use toolroom_contract::{Category, Policy, ResponseTime, ToolDefinition};

use crate::sample::sound;

const SOURCES: [Source; 4] = [Source::Native, Source::Script, Source::Upstream, Source::Unknown];

fn with(change: impl FnOnce(&mut ToolDefinition)) -> ToolDefinition {
    let mut definition = sound();
    change(&mut definition);
    definition
}

#[test]
fn category_and_idempotence_decide_what_may_be_repeated() {
    for (category, idempotent, read_only, repeatable) in [
        (Category::Query, true, true, true),
        (Category::Query, false, true, true),
        (Category::Analysis, false, true, true),
        (Category::Generation, false, true, true),
        (Category::Mutation, true, false, true),
        (Category::Mutation, false, false, false),
    ] {
        let definition = with(|tool| (tool.category, tool.idempotent) = (category, idempotent));
        let policy = Policy::of(&definition, Source::Native);
        assert_eq!(
            (policy.read_only, policy.repeatable),
            (read_only, repeatable),
            "{category:?} {idempotent}"
        );
    }
}

#[test]
fn only_cacheable_tools_that_change_nothing_are_cached() {
    let hour = Some(Duration::from_secs(3600));
    for (category, cacheable, ttl, cache) in [
        (Category::Query, true, Some(3600), hour),
        (Category::Analysis, true, Some(3600), hour),
        (Category::Generation, true, Some(3600), hour),
        (Category::Query, false, Some(3600), None),
        (Category::Query, true, None, None),
        (Category::Mutation, true, Some(3600), None),
    ] {
        let definition =
            with(|tool| (tool.category, tool.cacheable, tool.cache_ttl) = (category, cacheable, ttl));
        for source in SOURCES {
            assert_eq!(Policy::of(&definition, source).cache, cache, "{category:?} {cacheable} {ttl:?}");
        }
    }
}

#[test]
fn scripts_run_one_at_a_time_unless_they_say_otherwise() {
    for (source, parallel, slots) in [
        (Source::Script, None, Some(1)),
        (Source::Script, Some(true), Some(Policy::SCRIPTS_SIDE_BY_SIDE)),
        (Source::Script, Some(false), Some(1)),
        (Source::Native, None, None),
        (Source::Native, Some(false), Some(1)),
        (Source::Upstream, None, None),
        (Source::Upstream, Some(false), Some(1)),
    ] {
        let definition = with(|tool| tool.parallel = parallel);
        assert_eq!(Policy::of(&definition, source).slots, slots, "{source:?} {parallel:?}");
    }
}

#[test]
fn a_timeout_is_the_tools_own_or_follows_from_its_response_time() {
    for (response_time, own, millis) in [
        (ResponseTime::Fast, None, 5_000),
        (ResponseTime::Medium, None, 30_000),
        (ResponseTime::Slow, None, 120_000),
        (ResponseTime::Slow, Some(2.5), 2_500),
        (ResponseTime::Fast, Some(3600.0), 3_600_000),
        (ResponseTime::Fast, Some(1e9), 3_600_000),
        (ResponseTime::Fast, Some(-1.0), 1),
    ] {
        let definition = with(|tool| (tool.response_time, tool.timeout) = (response_time, own));
        let timeout = Policy::of(&definition, Source::Native).timeout;
        assert_eq!(timeout, Duration::from_millis(millis), "{response_time:?} {own:?}");
    }
}

#[test]
fn a_destructive_tool_waits_for_a_person() {
    let definition = with(|tool| (tool.category, tool.destructive) = (Category::Mutation, true));
    assert!(Policy::of(&definition, Source::Native).needs_approval);
    assert!(!Policy::of(&sound(), Source::Native).needs_approval);
}

#[test]
fn what_leaves_this_system_is_known() {
    assert!(!Policy::of(&sound(), Source::Native).open_world);
    assert!(Policy::of(&sound(), Source::Script).open_world);
    assert!(Policy::of(&sound(), Source::Upstream).open_world);
    let search = with(|tool| tool.permissions = vec!["web:search".parse().unwrap()]);
    assert!(Policy::of(&search, Source::Native).open_world);
}
