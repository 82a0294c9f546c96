//! The official conformance suites, against our server and our client: no failure, no expected failure, and no
//! fewer checks than the reference passes.

use std::path::Path;

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

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn our_client_passes_the_published_conformance_suite() {
    client_passes(Suite::Published).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn our_client_passes_the_conformance_suite_for_2025_11_25() {
    client_passes(Suite::WithSessions).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn our_client_passes_the_conformance_suite_for_2026_07_28() {
    client_passes(Suite::Stateless).await;
}

async fn client_passes(suite: Suite) {
    let program = Path::new(env!("CARGO_BIN_EXE_conformance"));
    let report = suite.run_client(&node(), program, None).await.unwrap();
    assert!(report.failures().is_empty(), "{report}\n{}", report.printed);
    assert_eq!(report.scored().count(), suite.client_scenarios(), "{report}");
}

async fn passes(suite: Suite) {
    let server = RunningServer::start(0).await.unwrap();
    let report = suite.run(&node(), &server.url(), None).await.unwrap();
    assert!(report.failures().is_empty(), "{report}");
    assert!(report.passed() >= suite.reference(), "fewer than {} checks passed\n{report}", suite.reference());
    server.stop().await.unwrap();
}
