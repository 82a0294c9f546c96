//! Who shares a worker, and how many there are.

use std::sync::Arc;

use serde_json::{Value, json};
use toolroom_worker::Isolation;

use crate::test_folder::TestFolder;

const PID: &str = "import os\ndef run(params, context):\n    return os.getpid()";

async fn pid_for(folder: &TestFolder, spec: &toolroom_worker::ScriptSpec, user: &str) -> Value {
    folder.scripts.call(spec, &json!({}), &json!({"userId": user}), &()).await.unwrap().data
}

#[tokio::test]
async fn shared_workers_serve_all_users_user_workers_one_and_call_workers_one_call() {
    let folder = TestFolder::new();
    let mut spec = folder.python("pid", PID);
    assert_eq!(pid_for(&folder, &spec, "ann").await, pid_for(&folder, &spec, "bob").await);

    spec.isolation = Isolation::User;
    let (ann, bob) = (pid_for(&folder, &spec, "ann").await, pid_for(&folder, &spec, "bob").await);
    assert_ne!(ann, bob);
    assert_eq!((pid_for(&folder, &spec, "ann").await, pid_for(&folder, &spec, "bob").await), (ann, bob));

    spec.isolation = Isolation::Call;
    assert_ne!(pid_for(&folder, &spec, "ann").await, pid_for(&folder, &spec, "ann").await);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn calls_of_a_tool_run_one_at_a_time_unless_it_is_parallel_and_then_as_many_as_allowed() {
    let folder = Arc::new(TestFolder::new());
    // Each call counts those that run beside it by the files that they hold open.
    let script = "
import os, time
def run(params, context):
    mine = os.path.join(params['folder'], str(os.getpid()))
    open(mine, 'w').close()
    most = 0
    for _ in range(40):
        most = max(most, len(os.listdir(params['folder'])))
        time.sleep(0.005)
    os.remove(mine)
    return most
";
    for (parallel, name) in [(1, "one"), (3, "three")] {
        let mut spec = folder.python("beside", script);
        spec.parallel = parallel;
        let here = folder.path().join(name);
        std::fs::create_dir(&here).unwrap();
        let calls: Vec<_> = (0..6)
            .map(|_| {
                let (folder, spec, here) = (Arc::clone(&folder), spec.clone(), here.clone());
                tokio::spawn(
                    async move { folder.data(&spec, json!({"folder": here})).await.as_u64().unwrap() },
                )
            })
            .collect();
        let mut most = 0;
        for call in calls {
            most = most.max(call.await.unwrap());
        }
        assert!(if parallel == 1 { most == 1 } else { (2..=3).contains(&most) }, "{parallel}: {most}");
    }
}
