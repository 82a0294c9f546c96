//! Answers of the chat that one server writes, and another is asked for.

use std::io::{BufRead, BufReader, Write};
use std::net::TcpStream;
use std::sync::Mutex;
use std::sync::mpsc::{self, Receiver, Sender};
use std::thread;

use serde_json::{Value, json};

use super::Replica;
use crate::promises::cluster::Cluster;
use crate::scripted_model::{Play, said, start_playing, text};
use crate::test_home::{TestHome, post};

/// Two servers with one model, which answers "wait" when it is told to, and never answers "never".
struct Servers {
    here: Replica,
    there: Replica,
    _cluster: Cluster,
    answer: Sender<()>,
    asked: Receiver<String>,
}

fn servers() -> Servers {
    let cluster = Cluster::start();
    let (answer, may_answer) = mpsc::channel();
    let (tell, asked) = mpsc::channel();
    let may_answer = Mutex::new(may_answer);
    let model = start_playing(move |request| {
        let words = said(request).to_owned();
        tell.send(words.clone()).unwrap();
        match words.as_str() {
            "wait" => {
                may_answer.lock().unwrap().recv().unwrap();
                Play::Message(text("Here I am."))
            }
            "never" => Play::Silence,
            _ => Play::Message(text("At once.")),
        }
    });
    let environment = [("OPENAI_BASE_URL", model.as_str()), ("TOOLROOM_MODEL", "tiny")];
    let start = || Replica::start_with(TestHome::new(), &cluster.url(), &environment);
    let (here, there) = (start(), start());
    Servers { here, there, _cluster: cluster, answer, asked }
}

impl Servers {
    /// Says something to the one server; returns the run and the conversation when the model has been asked, and the
    /// connection, over which the events come.
    fn say(&self, words: &str) -> (String, String, BufReader<TcpStream>) {
        let mut stream = TcpStream::connect(self.here.server.address).unwrap();
        let request = post("/api/v1/chat?stream=true", "", &json!({ "message": words }));
        stream.write_all(request.as_bytes()).unwrap();
        let mut events = BufReader::new(stream);
        let started = next_data(&mut events);
        assert_eq!(self.asked.recv().unwrap(), words);
        let of = |field: &str| started[field].as_str().unwrap().to_owned();
        (of("run_id"), of("conversation_id"), events)
    }

    /// Asks the other server for the answer to a run, and waits for it.
    fn follow(&self, run: &str) -> thread::JoinHandle<Value> {
        let (address, path) = (self.there.server.address, format!("/api/v1/chat/{run}"));
        thread::spawn(move || {
            let request = format!("GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
            let reply = crate::test_home::Reply::over(TcpStream::connect(address).unwrap(), &request);
            assert_eq!(reply.status, 200, "{reply:?}");
            reply.json
        })
    }
}

/// The data of the next event.
fn next_data(events: &mut impl BufRead) -> Value {
    let mut line = String::new();
    loop {
        line.clear();
        assert!(events.read_line(&mut line).unwrap() > 0, "the stream has ended");
        if let Some(data) = line.strip_prefix("data: ") {
            return serde_json::from_str(data).unwrap();
        }
    }
}

#[test]
fn promise_an_answer_that_one_replica_writes_is_had_at_another() {
    let servers = servers();
    let (run, _, mut events) = servers.say("wait");
    let followed = servers.follow(&run);
    servers.answer.send(()).unwrap();
    let response = "Here I am.\n\nNothing was changed.";
    assert_eq!(followed.join().unwrap()["response"], response);
    assert_eq!(next_data(&mut events)["text"], "Here I am.");
    assert!(servers.asked.try_recv().is_err(), "the model was asked once");
    // What is over is read at both.
    assert_eq!(servers.follow(&run).join().unwrap()["response"], response);
}

#[test]
fn promise_an_answer_that_one_replica_writes_is_cancelled_at_another() {
    let servers = servers();
    for by_conversation in [false, true] {
        let (run, conversation, mut events) = servers.say("never");
        let followed = servers.follow(&run);
        let path = match by_conversation {
            true => format!("/api/v1/conversations/{conversation}/cancel"),
            false => format!("/api/v1/chat/{run}/cancel"),
        };
        let cancelled = servers.there.server.post(&path, "", &json!({}));
        assert_eq!(cancelled.status, 204, "{cancelled:?}");
        let told = next_data(&mut events)["text"].as_str().unwrap().to_owned();
        assert!(told.starts_with("Cancelled."), "{told}");
        assert_eq!(followed.join().unwrap()["response"], told);
        // Now there is nothing to end.
        let again = servers.there.server.post(&format!("/api/v1/chat/{run}/cancel"), "", &json!({}));
        assert_eq!(again.status, 404, "{again:?}");
    }
}

#[test]
fn a_conversation_of_a_replica_that_was_killed_goes_on_at_another_once_its_lease_has_lapsed() {
    let servers = servers();
    let (run, conversation, events) = servers.say("never");
    let followed = servers.follow(&run);
    let body = json!({ "message": "hello", "conversation_id": conversation });
    let busy = servers.there.server.post("/api/v1/chat", "", &body);
    assert_eq!(busy.status, 409, "{busy:?}");
    servers.here.server.signal("-KILL");
    drop(events);
    let told = followed.join().unwrap()["response"].as_str().unwrap().to_owned();
    assert!(told.starts_with("The server that answered this message has stopped"), "{told}");
    let answer = servers.there.server.post("/api/v1/chat", "", &body).json;
    let response = answer["response"].as_str().unwrap();
    assert!(response.ends_with("At once."), "{response}");
}
