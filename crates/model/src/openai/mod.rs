//! Any server with OpenAI's chat completions: hosted, or on this machine. Tolerant of what servers really do.

mod assemble;
mod events;
mod request;
mod settings;
mod text_calls;
mod thoughts;

use std::sync::Arc;
use std::time::Duration;

use http::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, RETRY_AFTER};
use http::{HeaderMap, HeaderValue, StatusCode};
use serde_json::Value;
use tokio::time::{Instant, sleep_until, timeout_at};
use toolroom_outgoing::{Limits, Outgoing, OutgoingError, Response};

use super::{Deltas, Model, ModelError, Probing, Prompt, Sampling, Turn, Turning};
use assemble::Assembly;
use events::{Answer, Event};
use request::{Form, body};

pub use settings::{ApiKey, BadModel, OpenAiSettings};
pub use text_calls::TextCalls;
pub use thoughts::Thoughts;

/// A model behind an OpenAI-compatible server.
#[derive(Clone)]
pub struct OpenAi {
    settings: OpenAiSettings,
    sampling: Sampling,
    outgoing: Arc<Outgoing>,
}

/// How often a request is sent again, if nothing of an answer came.
const RETRIES: u32 = 2;
/// The longest wait that a server can ask for.
const LONGEST_WAIT: Duration = Duration::from_secs(5);
/// How long a look at the server may take.
const PROBE: Duration = Duration::from_secs(5);
/// Bytes of a whole answer.
const MOST_BYTES: usize = 8 << 20;

impl OpenAi {
    /// A model by its settings. Nothing is connected before the first turn.
    pub fn new(settings: OpenAiSettings) -> Self {
        let limits = Limits { timeout: Duration::from_secs(15), body: MOST_BYTES, redirects: 0 };
        // An administrator wrote the address: it may be this machine's own.
        let outgoing = Arc::new(Outgoing::new(limits).allow_private(settings.url.clone()));
        Self { settings, sampling: Sampling::default(), outgoing }
    }

    async fn ask(&self, prompt: &Prompt, out: &mut dyn Deltas) -> Result<Turn, ModelError> {
        let mut deadline = Instant::now() + self.settings.timeout;
        let mut form = Form::Full;
        let mut tries = 0;
        loop {
            let body = body(&self.settings.model, prompt, &self.sampling, form);
            let refused = match self.attempt(body, deadline, out).await {
                Ok(turn) => return Ok(turn),
                Err(refused) => refused,
            };
            // Some servers reject fields that they do not know.
            if refused.bad_request
                && let Some(simpler) = form.simpler(&self.sampling)
            {
                form = simpler;
                continue;
            }
            let (Some(wait), true) = (refused.wait, tries < RETRIES) else { return Err(refused.error) };
            tries += 1;
            if matches!(refused.error, ModelError::Timeout) {
                // Once more, and not for as long: somebody waits for an answer.
                tries = RETRIES;
                deadline = Instant::now() + self.settings.timeout / 2;
                continue;
            }
            let at = Instant::now() + wait.min(LONGEST_WAIT).max(Duration::from_millis(200) * tries);
            if at >= deadline {
                return Err(refused.error);
            }
            sleep_until(at).await;
        }
    }

    async fn attempt(&self, body: Vec<u8>, deadline: Instant, out: &mut dyn Deltas) -> Result<Turn, Refused> {
        let sent = timeout_at(deadline, self.send(body)).await;
        let answer = sent.unwrap_or(Err(Refused::lost(ModelError::Timeout)))?;
        let mut begun = false;
        let turn = self.read(answer, deadline, out, &mut begun).await;
        // Once something came, nothing is sent again: it may have been shown.
        turn.map_err(|error| if begun { Refused::hopeless(error) } else { Refused::lost(error) })
    }

    /// Sends a request, up to the head of the answer.
    async fn send(&self, body: Vec<u8>) -> Result<Response, Refused> {
        let url = self.settings.completions();
        let client =
            self.outgoing.client_for(&url).map_err(|error| Refused::hopeless(of_outgoing(&error)))?;
        let sent = client.post(url).headers(self.headers()).body(body).send().await;
        let response = sent.map_err(|error| Refused::lost(of_outgoing(&OutgoingError::from(error))))?;
        if response.status().is_success() { Ok(response) } else { Err(self.refusal(response).await) }
    }

    /// Asks for the list of models. A server that has none of it is there all the same.
    async fn knock(&self) -> Result<(), ModelError> {
        let url = self.settings.models();
        let client = self.outgoing.client_for(&url).map_err(|error| of_outgoing(&error))?;
        let sent = client.get(url).headers(self.headers()).send().await;
        let answer = sent.map_err(|error| of_outgoing(&OutgoingError::from(error)))?;
        match answer.status() {
            StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN => Err(ModelError::Unauthorized),
            status if status.is_server_error() => Err(ModelError::Busy),
            _ => Ok(()),
        }
    }

    fn headers(&self) -> HeaderMap {
        let mut headers = HeaderMap::new();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        headers.insert(ACCEPT, HeaderValue::from_static("text/event-stream, application/json"));
        if let Some(key) = &self.settings.api_key
            && let Ok(mut value) = HeaderValue::try_from(format!("Bearer {}", key.reveal()))
        {
            value.set_sensitive(true);
            headers.insert(AUTHORIZATION, value);
        }
        headers
    }

    async fn refusal(&self, response: Response) -> Refused {
        let status = response.status();
        let wait = response.headers().get(RETRY_AFTER).and_then(|value| value.to_str().ok()?.parse().ok());
        let wait = Duration::from_secs_f64(wait.unwrap_or(0.3_f64).clamp(0.0, 60.0));
        let text = start(response).await;
        let said = self.settings.without_key(&message_in(&text));
        let failed = || ModelError::Failed(format!("{}: {said}", status.as_u16()));
        let again = |error| Refused { error, wait: Some(wait), bad_request: false };
        match status {
            StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN => Refused::hopeless(ModelError::Unauthorized),
            StatusCode::TOO_MANY_REQUESTS => again(ModelError::Busy),
            StatusCode::BAD_GATEWAY | StatusCode::SERVICE_UNAVAILABLE | StatusCode::GATEWAY_TIMEOUT => {
                again(ModelError::Busy)
            }
            StatusCode::BAD_REQUEST | StatusCode::UNPROCESSABLE_ENTITY => {
                Refused { error: failed(), wait: None, bad_request: true }
            }
            status if status.is_server_error() => again(failed()),
            _ => Refused::hopeless(failed()),
        }
    }

    /// Reads an answer, whole or as a stream; `begun` once a part of it is there.
    async fn read(
        &self,
        mut answer: Response,
        deadline: Instant,
        out: &mut dyn Deltas,
        begun: &mut bool,
    ) -> Result<Turn, ModelError> {
        let mut assembly = Assembly::new(out);
        let mut read = Answer::new();
        let mut size = 0;
        loop {
            let quiet = (Instant::now() + self.settings.idle).min(deadline);
            let chunk = timeout_at(quiet, answer.chunk()).await.map_err(|_| ModelError::Timeout)?;
            let Some(chunk) = chunk.map_err(|_| ModelError::Broken)? else { break };
            size += chunk.len();
            *begun = size > 0;
            if size > MOST_BYTES {
                return Err(ModelError::Failed("its answer is too large".to_owned()));
            }
            for event in read.push(&chunk) {
                if self.take(&mut assembly, event)? {
                    assembly.ended();
                    return assembly.finish();
                }
            }
        }
        // A server that does not stream answers with one object, perhaps over many lines.
        for event in read.rest() {
            if self.take(&mut assembly, event)? {
                assembly.ended();
            }
        }
        assembly.finish()
    }

    /// Whether that was the end.
    fn take(&self, assembly: &mut Assembly<'_>, event: Event) -> Result<bool, ModelError> {
        match event {
            Event::End => Ok(true),
            Event::Json(value) => match value.get("error").filter(|error| !error.is_null()) {
                Some(error) => {
                    let said = self.settings.without_key(&message_of(error));
                    Err(ModelError::Failed(said))
                }
                None => {
                    assembly.take(&value);
                    Ok(false)
                }
            },
        }
    }
}

impl Model for OpenAi {
    fn name(&self) -> &str {
        &self.settings.model
    }

    fn probe(&self) -> Probing<'_> {
        Box::pin(async {
            let knocked = tokio::time::timeout(PROBE, self.knock()).await;
            Some(knocked.unwrap_or(Err(ModelError::Timeout)))
        })
    }

    fn sampled(&self, sampling: &Sampling) -> Option<Arc<dyn Model>> {
        Some(Arc::new(Self { sampling: sampling.clone(), ..self.clone() }))
    }

    fn turn<'a>(&'a self, prompt: &'a Prompt, out: &'a mut dyn Deltas) -> Turning<'a> {
        Box::pin(self.ask(prompt, out))
    }
}

/// As much of a body as an excerpt needs.
async fn start(mut response: Response) -> String {
    let mut bytes = Vec::new();
    while bytes.len() < 8 << 10 {
        match tokio::time::timeout(Duration::from_secs(2), response.chunk()).await {
            Ok(Ok(Some(chunk))) => bytes.extend_from_slice(&chunk),
            _ => break,
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// Why the request failed, and whether to try again.
struct Refused {
    error: ModelError,
    /// How long to wait before that; `None` if it would not help.
    wait: Option<Duration>,
    bad_request: bool,
}

impl Refused {
    fn hopeless(error: ModelError) -> Self {
        Self { error, wait: None, bad_request: false }
    }

    /// Nothing of an answer came, so that it can be asked for again.
    fn lost(error: ModelError) -> Self {
        Self { error, wait: Some(Duration::from_millis(300)), bad_request: false }
    }
}

fn of_outgoing(error: &OutgoingError) -> ModelError {
    match error {
        OutgoingError::Timeout => ModelError::Timeout,
        OutgoingError::TooLarge { .. } => ModelError::Failed("its answer is too large".to_owned()),
        _ => ModelError::Unreachable,
    }
}

/// What a refusal says, however it says it.
fn message_in(text: &str) -> String {
    match serde_json::from_str::<Value>(text) {
        Ok(value) => message_of(value.get("error").unwrap_or(&value)),
        Err(_) => excerpt(text),
    }
}

fn message_of(error: &Value) -> String {
    let said = ["message", "detail", "error"].iter().find_map(|field| error.get(field)?.as_str());
    excerpt(said.or_else(|| error.as_str()).unwrap_or("no reason given"))
}

fn excerpt(text: &str) -> String {
    let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
    words.chars().take(200).collect()
}
