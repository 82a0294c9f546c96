//! Dialogues with the offline planner through the chat's own door; `planner_dialogues.txt` holds them.

use std::sync::Arc;

use serde_json::Value;
use toolroom_agent::{Answer, Chat, ChatSettings, Models, UserMessage};
use toolroom_contract::Principal;
use toolroom_contract::ids::ConversationId;

use crate::test_chat::{TestChat, names};

const DIALOGUES: &str = include_str!("planner_dialogues.txt");

struct TestConversation {
    home: TestChat,
    chat: Chat,
    who: Arc<Principal>,
    profile: String,
    id: Option<ConversationId>,
}

impl TestConversation {
    async fn say(&mut self, text: &str) -> Answer {
        let said = UserMessage {
            conversation: self.id,
            text: text.to_owned(),
            profile: Some(self.profile.clone()),
            timestamp: Some("2026-11-15T09:00:00Z".parse().unwrap()),
            timezone: Some("Europe/Berlin".into()),
            ..UserMessage::default()
        };
        let answer = self.chat.say(&self.who, said).await.unwrap().answer().await.unwrap();
        self.id = answer.conversation_id;
        answer
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn dialogues_go_as_they_are_written_down() {
    let mut wrong = Vec::new();
    for dialogue in DIALOGUES.split("\n\n").filter(|dialogue| !dialogue.trim().is_empty()) {
        if let Err(why) = played(dialogue).await {
            let heading = dialogue.lines().find(|line| line.starts_with("# ")).unwrap_or_default();
            wrong.push(format!("{heading}\n{why}"));
        }
    }
    assert!(wrong.is_empty(), "{} dialogues go otherwise:\n{}", wrong.len(), wrong.join("\n"));
}

async fn played(dialogue: &str) -> Result<(), String> {
    let mut lines = dialogue.trim().lines();
    let (profile, _) =
        lines.next().and_then(|line| line.strip_prefix("# ")?.split_once(": ")).expect(dialogue);
    let home = TestChat::new().await;
    let who = home.user("anna").await;
    let chat = Chat::new(Arc::clone(&home.runtime), Models::offline(), ChatSettings::default());
    let mut talk = TestConversation { home, chat, who, profile: profile.to_owned(), id: None };
    let mut answer: Option<Answer> = None;
    let mut said = "";
    for line in lines {
        if let Some(title) = line.strip_prefix("+ ") {
            talk.home.add(&talk.who, title).await;
        } else if let Some(text) = line.strip_prefix("> ") {
            said = text;
            answer = Some(talk.say(text).await);
        } else {
            let answer = answer.as_ref().expect(line);
            let seen = expected(line, answer, &talk).await;
            if let Err(seen) = seen {
                return Err(format!("  > {said}\n    {line}\n    was {seen}\n    {}", answer.response));
            }
        }
    }
    Ok(())
}

/// Whether an answer is as a line says; what it is instead, if not.
async fn expected(line: &str, answer: &Answer, talk: &TestConversation) -> Result<(), String> {
    let (kind, rest) = line.split_once(' ').unwrap_or((line, ""));
    let equal = |seen: String, wanted: &str| if seen == wanted { Ok(()) } else { Err(seen) };
    match kind {
        "calls" => equal(names(answer).join(" "), rest),
        "silent" => {
            equal(names(answer).join(" ") + if answer.receipts.is_empty() { "" } else { " receipts" }, "")
        }
        "says" if answer.response.contains(rest) => Ok(()),
        "says" => Err(answer.response.clone()),
        "pending" => equal(
            answer
                .pending_confirmation
                .as_ref()
                .map_or("nothing".into(), |one| format!("{} {}", one.action, one.task_id)),
            rest,
        ),
        // Of several calls, that of the change; the parameters that are named must be so.
        "input" => {
            let wanted: Value = serde_json::from_str(rest).unwrap();
            let fits = |input: &Value| {
                wanted.as_object().unwrap().iter().all(|(name, value)| input.get(name) == Some(value))
            };
            match answer.tool_calls.iter().any(|call| fits(&call.input)) {
                true => Ok(()),
                false => {
                    Err(format!("{:?}", answer.tool_calls.iter().map(|call| &call.input).collect::<Vec<_>>()))
                }
            }
        }
        "titles" => equal(talk.home.titles(&talk.who).await.join(" | "), rest),
        _ => panic!("{line}"),
    }
}
