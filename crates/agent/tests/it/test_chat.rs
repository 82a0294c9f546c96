//! A chat on a scratch database, with a model that follows a script.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};
use tempfile::TempDir;
use toolroom_agent::{Answer, Chat, ChatSettings, Models, UserMessage};
use toolroom_contract::context::ContextFields;
use toolroom_contract::ids::{ConversationId, RunId};
use toolroom_contract::{Grants, Principal, Reporter};
use toolroom_model::{Arguments, Deltas, Message, Model, ModelError, Prompt, ToolCall, Turn, Turning};
use toolroom_runtime::catalogue::{Executor, NewTool};
use toolroom_runtime::clock::SystemClock;
use toolroom_runtime::journal::{Journal, JournalSettings};
use toolroom_runtime::{CallRequest, Edge, Parts, Runtime, Settings};
use toolroom_store::Store;

/// What a scripted model does in one turn.
type Play = Box<dyn FnOnce(&Prompt) -> Result<Turn, ModelError> + Send>;

/// A model that follows a script, and remembers what it was shown.
#[derive(Default)]
pub struct Script {
    plays: Mutex<VecDeque<Play>>,
    pub prompts: Mutex<Vec<Prompt>>,
    /// What it does when the script is over; without, it says nothing.
    pub always: Mutex<Option<Turn>>,
}

impl Script {
    pub fn then(&self, play: impl FnOnce(&Prompt) -> Result<Turn, ModelError> + Send + 'static) -> &Self {
        self.plays.lock().unwrap().push_back(Box::new(play));
        self
    }

    pub fn says(&self, text: &str) -> &Self {
        let turn = Turn::text(text);
        self.then(move |_| Ok(turn))
    }

    pub fn calls(&self, name: &str, params: Value) -> &Self {
        let turn = Turn::call("", name, params);
        self.then(move |_| Ok(turn))
    }

    pub fn calls_all(&self, calls: &[(&str, Value)]) -> &Self {
        let call = |(name, params): &(&str, Value)| ToolCall {
            id: String::new(),
            name: (*name).to_owned(),
            arguments: Arguments::Json(params.clone()),
        };
        let turn = Turn { calls: calls.iter().map(call).collect(), ..Turn::default() };
        self.then(move |_| Ok(turn))
    }

    /// The prompt of the last turn.
    pub fn last(&self) -> Prompt {
        self.prompts.lock().unwrap().last().cloned().expect("the model was asked")
    }

    pub fn turns(&self) -> usize {
        self.prompts.lock().unwrap().len()
    }
}

/// The results in a prompt, newest last.
pub fn results(prompt: &Prompt) -> Vec<Value> {
    let result = |message: &Message| match message {
        Message::Tool { structured, .. } => structured.clone(),
        _ => None,
    };
    prompt.messages.iter().filter_map(result).collect()
}

pub struct Scripted(pub Arc<Script>);

impl Model for Scripted {
    fn name(&self) -> &str {
        "scripted"
    }

    fn turn<'a>(&'a self, prompt: &'a Prompt, out: &'a mut dyn Deltas) -> Turning<'a> {
        self.0.prompts.lock().unwrap().push(prompt.clone());
        let play = self.0.plays.lock().unwrap().pop_front();
        let turn = match play {
            Some(play) => play(prompt),
            None => Ok(self.0.always.lock().unwrap().clone().unwrap_or_default()),
        };
        Box::pin(async move {
            let turn = turn?;
            // Piece by piece, as a server streams.
            let letters: Vec<char> = turn.text.chars().collect();
            for piece in letters.chunks(3) {
                out.text(&piece.iter().collect::<String>());
            }
            Ok(turn)
        })
    }
}

pub struct TestChat {
    pub chat: Chat,
    pub script: Arc<Script>,
    pub runtime: Arc<Runtime>,
    pub folder: TempDir,
}

impl TestChat {
    pub async fn new() -> Self {
        Self::with(ChatSettings::default())
    }

    pub fn with(settings: ChatSettings) -> Self {
        Self::on(tempfile::tempdir().unwrap(), settings)
    }

    /// A home on a folder that may have been lived in before.
    pub fn on(folder: TempDir, settings: ChatSettings) -> Self {
        let url = format!("sqlite:{}", folder.path().join("toolroom.db").display());
        Self::at(&url, folder, settings)
    }

    /// A home on this database.
    pub fn at(url: &str, folder: TempDir, settings: ChatSettings) -> Self {
        Self::packed(url, folder, settings, false)
    }

    /// A room with the card tools beside the task tools.
    pub fn with_cards() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let url = format!("sqlite:{}", folder.path().join("toolroom.db").display());
        Self::packed(&url, folder, ChatSettings::default(), true)
    }

    fn packed(url: &str, folder: TempDir, settings: ChatSettings, cards: bool) -> Self {
        let store = Store::open(&url.parse().unwrap()).unwrap();
        let native = |(definition, handler)| NewTool { definition, executor: Executor::Native(handler) };
        let mut tools: Vec<NewTool> =
            toolroom_packs::tasks::tools(&store, Default::default()).into_iter().map(native).collect();
        tools.push(native(toolroom_packs::builtin::human()));
        if cards {
            tools.extend(toolroom_packs::cards::tools(&store).into_iter().map(native));
        }
        let logs = folder.path().join("logs");
        let runtime = Runtime::new(Parts {
            store,
            journal: Journal::open(&logs, RunId::new(), JournalSettings::default()).unwrap(),
            tools,
            profiles: toolroom_profiles::built_in(),
            clock: Arc::new(SystemClock),
            settings: Settings::default(),
        })
        .unwrap();
        let script = Arc::new(Script::default());
        let models = Models::with(Arc::new(Scripted(Arc::clone(&script))));
        let chat = Chat::new(Arc::clone(&runtime), models, settings);
        Self { chat, script, runtime, folder }
    }

    /// Ends this life of the process, whatever goes on in it, and begins another.
    pub fn restart(self, settings: ChatSettings) -> Self {
        let Self { chat, script, runtime, folder } = self;
        drop((chat, script, runtime));
        Self::on(folder, settings)
    }

    pub async fn user(&self, name: &str) -> Arc<Principal> {
        Arc::new(Principal {
            user: self.runtime.users.ensure(name).await.unwrap(),
            grants: Grants::all(),
            profiles: None,
            person: false,
            key: None,
            time_zone: None,
            revoked: Default::default(),
        })
    }

    pub fn talk(&self, who: &Arc<Principal>, profile: &'static str) -> TestConversation<'_> {
        TestConversation { home: self, who: Arc::clone(who), profile, id: None }
    }

    /// A call past the chat.
    pub async fn call(&self, who: &Arc<Principal>, name: &str, params: Value) -> Value {
        let request = CallRequest {
            profile: "assistant".into(),
            name: name.to_owned(),
            params,
            principal: Arc::clone(who),
            context: ContextFields::default(),
            edge: Edge::Rest,
            reporter: Reporter::default(),
        };
        self.runtime.call(request).await.published.unwrap()
    }

    pub async fn add(&self, who: &Arc<Principal>, title: &str) -> i64 {
        self.call(who, "add_task", json!({ "title": title })).await["task"]["id"].as_i64().unwrap()
    }

    /// The titles of the tasks that are there, oldest first.
    pub async fn titles(&self, who: &Arc<Principal>) -> Vec<String> {
        let listed = self.call(who, "list_tasks", json!({})).await;
        let tasks = listed["tasks"].as_array().unwrap();
        tasks.iter().rev().map(|task| task["title"].as_str().unwrap().to_owned()).collect()
    }

    pub async fn completed(&self, who: &Arc<Principal>) -> u64 {
        self.call(who, "list_tasks", json!({ "status": "completed" })).await["count"].as_u64().unwrap()
    }
}

/// One conversation.
pub struct TestConversation<'a> {
    pub home: &'a TestChat,
    pub who: Arc<Principal>,
    pub profile: &'static str,
    pub id: Option<ConversationId>,
}

impl TestConversation<'_> {
    pub async fn say(&mut self, text: &str) -> Answer {
        let said = UserMessage {
            conversation: self.id,
            text: text.to_owned(),
            profile: Some(self.profile.to_owned()),
            ..UserMessage::default()
        };
        let answer = self.home.chat.say(&self.who, said).await.unwrap().answer().await.unwrap();
        self.id = answer.conversation_id;
        answer
    }
}

/// The names of the calls of an answer.
pub fn names(answer: &Answer) -> Vec<&str> {
    answer.tool_calls.iter().map(|call| call.name.as_str()).collect()
}
