//! The official conformance suites: no failure, no expected failure, and no fewer checks than the reference passes.

use toolroom_mcp_tests::{RunningServer, Suite};

use crate::programs::node;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_published_conformance_suite_passes() {
    passes(Suite::Published).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_conformance_suite_for_2025_11_25_passes() {
    passes(Suite::WithSessions).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_conformance_suite_for_2026_07_28_passes() {
    passes(Suite::Stateless).await;
}

async fn passes(suite: Suite) {
    let server = RunningServer::start(0).await.unwrap();
    let report = suite.run(&node(), &server.url(), None).await.unwrap();
    assert!(report.failures().is_empty(), "{report}");
    assert!(report.passed() >= suite.reference(), "fewer than {} checks passed\n{report}", suite.reference());
    server.stop().await.unwrap();
}
