use crate::support::on_both;
#[tokio::test(flavor = "multi_thread")]
async fn show() {
    on_both(|room| async move {
        for name in ["create-task", "update-task", "list-tasks", "batch-tasks"] {
            let d = &room.tools[name].definition;
            eprintln!(
                "{name} {}\n{}\n{}",
                serde_json::to_string(d).unwrap().len(),
                d.parameters,
                d.output.as_ref().unwrap()
            );
        }
    })
    .await;
}
