//! Servers of two releases on one database, while one replaces the other. The other release is what it leaves in the
//! database: its schema, and its row among the replicas.

use serde_json::{Value, json};

use super::Replica;
use super::registry::{owner, tool};
use crate::promises::cluster::Cluster;
use crate::test_home::TestHome;

#[test]
fn a_replica_restarts_beside_the_next_release_that_only_added_to_the_schema() {
    let cluster = Cluster::start();
    let url = cluster.url();
    let (first, second) = (Replica::start(&url), Replica::start(&url));
    let id = super::id_of(&first.call("create-task", &json!({ "title": "before" })));
    // The next release has come, and says that this one can work on.
    cluster.sql("CREATE TABLE later (id BIGINT PRIMARY KEY); ALTER TABLE tasks ADD COLUMN later TEXT");
    cluster.sql(
        "INSERT INTO schema_migrations (version, name, applied_at, oldest_reader)
         SELECT 9998, 'later', 0, max(version) FROM schema_migrations",
    );
    let second = second.kill_and_start_again(&url);
    second.call("update-task", &json!({ "taskId": id, "title": "after" }));
    assert_eq!(first.call("get-task", &json!({ "taskId": id }))["task"]["title"], "after");
    // A backup would leave out what it does not know.
    let file = second.home.path("backup").display().to_string();
    let refused = second.home.run(&["backup", &file, "--database", &url]);
    assert!(refused.code != 0 && refused.err.contains("9998"), "{refused:?}");

    // A release that cannot work beside this one says nothing, and this one refuses.
    cluster.sql("INSERT INTO schema_migrations (version, name, applied_at) VALUES (9999, 'last', 0)");
    let refused = TestHome::new().run(&["serve", "--shared", "--listen", "127.0.0.1:0", "--database", &url]);
    assert!(refused.code != 0 && refused.err.contains("9999"), "{refused:?}");
    // What runs already goes on.
    assert_eq!(second.call("get-task", &json!({ "taskId": id }))["task"]["title"], "after");
}

#[test]
fn a_field_that_a_replica_of_another_release_does_not_know_is_refused_until_that_is_gone() {
    let cluster = Cluster::start();
    let replica = Replica::start(&cluster.url());
    cluster.sql(
        "INSERT INTO replicas (id, home, version, started_at, lease_until, shared, registry_version, knows)
         SELECT '0198a000-0000-7000-8000-000000000001', 'elsewhere:/older', '0.1.9', 0, 4000000000000000000, true,
                4000000000000000000, (knows::jsonb - 'tool.rateLimit' - 'profile.rename')::text FROM replicas",
    );
    let mut limited = tool("limited", "here");
    limited["rateLimit"] = json!({ "maxCalls": 5, "windowMs": 1000 });
    let renamed = json!({ "tools": ["plain"], "rename": { "plain": "other" } });
    let add = |tool: &Value| owner(&replica, "POST", "/api/v1/tools", tool);
    let name = || owner(&replica, "PUT", "/api/v1/profiles/mine", &renamed);
    assert_eq!(add(&tool("plain", "here")).status, 201);
    for (refused, field) in [(add(&limited), "tool.rateLimit"), (name(), "profile.rename")] {
        assert_eq!(refused.status, 400, "{refused:?}");
        assert!(refused.body.contains("0.1.9") && refused.body.contains(field), "{refused:?}");
    }
    let unknown = replica.server.post(&super::path("limited"), "", &json!({ "params": {} }));
    assert_eq!(unknown.status, 404, "nothing was changed: {unknown:?}");
    assert!(!replica.home.home().join("tools/limited.sh").exists(), "nor was its script written");

    cluster.sql("DELETE FROM replicas WHERE version = '0.1.9'");
    assert_eq!(add(&limited).status, 201);
    assert!([200, 201].contains(&name().status));
    replica.call("limited", &json!({}));
}
