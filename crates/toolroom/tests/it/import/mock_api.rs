//! A service made from an OpenAPI document: it refuses what the document does not allow, and answers as it says.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};

use super::sample::{resolved, sample};

/// A request that came.
#[derive(Clone, Debug, Default)]
pub struct Seen {
    pub method: String,
    pub target: String,
    pub headers: BTreeMap<String, String>,
    pub body: Vec<u8>,
}

impl Seen {
    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }
}

/// An answer: status, headers, body.
pub type Canned = (u16, Vec<(&'static str, String)>, Vec<u8>);

pub struct MockApi {
    pub address: SocketAddr,
    state: Arc<State>,
}

struct State {
    document: Value,
    seen: Mutex<Vec<Seen>>,
    /// Answers that are given instead, the first first.
    canned: Mutex<Vec<Canned>>,
    tokens: Mutex<usize>,
}

impl MockApi {
    pub fn start(document: Value) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let state = Arc::new(State {
            document,
            seen: Mutex::default(),
            canned: Mutex::default(),
            tokens: Mutex::default(),
        });
        let shared = Arc::clone(&state);
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let state = Arc::clone(&shared);
                std::thread::spawn(move || state.serve(stream));
            }
        });
        Self { address, state }
    }

    pub fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    pub fn answer(&self, status: u16, headers: &[(&'static str, &str)], body: &[u8]) {
        let headers = headers.iter().map(|(name, value)| (*name, (*value).to_owned())).collect();
        self.state.canned.lock().unwrap().push((status, headers, body.to_vec()));
    }

    pub fn last(&self) -> Seen {
        self.state.seen.lock().unwrap().last().cloned().unwrap_or_default()
    }

    pub fn count(&self) -> usize {
        self.state.seen.lock().unwrap().len()
    }
}

impl State {
    fn serve(&self, stream: TcpStream) {
        let mut reader = BufReader::new(stream.try_clone().unwrap());
        let mut line = String::new();
        if reader.read_line(&mut line).unwrap_or(0) == 0 {
            return;
        }
        let mut words = line.split_whitespace();
        let mut seen = Seen {
            method: words.next().unwrap_or_default().to_owned(),
            target: words.next().unwrap_or_default().to_owned(),
            ..Seen::default()
        };
        loop {
            let mut line = String::new();
            reader.read_line(&mut line).unwrap();
            let Some((name, value)) = line.trim_end().split_once(':') else { break };
            seen.headers.insert(name.to_lowercase(), value.trim().to_owned());
        }
        let length = seen.headers.get("content-length").and_then(|length| length.parse().ok()).unwrap_or(0);
        seen.body = vec![0; length];
        reader.read_exact(&mut seen.body).unwrap();
        let (status, headers, body) = self.reply(&seen);
        self.seen.lock().unwrap().push(seen);
        let mut head =
            format!("HTTP/1.1 {status} X\r\nConnection: close\r\nContent-Length: {}\r\n", body.len());
        for (name, value) in headers {
            head.push_str(&format!("{name}: {value}\r\n"));
        }
        let mut stream = stream;
        let _ = stream.write_all(format!("{head}\r\n").as_bytes());
        let _ = stream.write_all(&body);
    }

    fn reply(&self, seen: &Seen) -> Canned {
        let json = |status: u16, body: Value| {
            (status, vec![("Content-Type", "application/json".to_owned())], body.to_string().into_bytes())
        };
        if seen.target == "/document.json" {
            return json(200, self.document.clone());
        }
        if seen.target == "/token" {
            let mut count = self.tokens.lock().unwrap();
            *count += 1;
            let token = json!({ "access_token": format!("token-number-{count}"), "token_type": "bearer", "expires_in": 3600 });
            return json(200, token);
        }
        if !self.canned.lock().unwrap().is_empty() {
            return self.canned.lock().unwrap().remove(0);
        }
        match self
            .operation(seen)
            .and_then(|(item, operation)| self.check(seen, item, operation).map(|()| operation))
        {
            Ok(operation) => self.answer(operation),
            Err(reason) => json(400, json!({ "message": reason })),
        }
    }

    /// The operations whose path and method these are: some documents tell several by a fragment.
    fn operation(&self, seen: &Seen) -> Result<(&Value, &Value), String> {
        let path = seen.target.split('?').next().unwrap_or_default();
        let fits = |template: &str| {
            let template =
                template.split('#').next().unwrap_or_default().split('?').next().unwrap_or_default();
            let (ours, theirs): (Vec<&str>, Vec<&str>) =
                (path.split('/').collect(), template.split('/').collect());
            ours.len() == theirs.len()
                && ours
                    .iter()
                    .zip(&theirs)
                    .all(|(one, other)| one == other || (other.contains('{') && !one.is_empty()))
        };
        let method = seen.method.to_lowercase();
        let mut found = Vec::new();
        for (template, item) in self.document["paths"].as_object().unwrap() {
            if fits(template) && item.get(&method).is_some() {
                let exact = template.split('/').filter(|part| part.contains('{')).count();
                found.push((exact, item, &item[&method]));
            }
        }
        // The most exact of those whose conditions are met.
        found.sort_by_key(|(exact, ..)| *exact);
        let met = found.iter().find(|(_, item, operation)| self.check(seen, item, operation).is_ok());
        let (_, item, operation) =
            met.or(found.first()).ok_or_else(|| format!("no operation {} {path}", seen.method))?;
        Ok((item, operation))
    }

    fn check(&self, seen: &Seen, item: &Value, operation: &Value) -> Result<(), String> {
        let query = seen.target.split_once('?').map_or("", |(_, query)| query);
        let given: Vec<&str> = query
            .split('&')
            .filter(|pair| !pair.is_empty())
            .map(|pair| pair.split('=').next().unwrap())
            .collect();
        // Some documents have a part of the query in their paths.
        let templates =
            self.document["paths"].as_object().unwrap().keys().filter_map(|path| path.split_once('?'));
        let mut known: Vec<String> =
            templates.map(|(_, query)| query.split('=').next().unwrap().to_owned()).collect();
        for parameter in
            [operation, item].iter().flat_map(|around| around["parameters"].as_array().into_iter().flatten())
        {
            let parameter = resolved(parameter, &self.document);
            let name = parameter["name"].as_str().unwrap();
            let is_needed = parameter["required"] == true;
            match parameter["in"].as_str() {
                Some("query") => {
                    let schema = resolved(&parameter["schema"], &self.document);
                    known.extend(
                        schema["properties"].as_object().into_iter().flat_map(|all| all.keys().cloned()),
                    );
                    known.push(name.to_owned());
                    if is_needed
                        && !given.iter().any(|one| decoded(one).split('[').next() == name.split('[').next())
                    {
                        return Err(format!("query {name} is missing"));
                    }
                }
                Some("header") if is_needed && !seen.headers.contains_key(&name.to_lowercase()) => {
                    return Err(format!("header {name} is missing"));
                }
                _ => {}
            }
        }
        for one in given.iter().map(|one| decoded(one)) {
            let key = one.split('[').next().unwrap_or_default().to_owned();
            if !known.contains(&one)
                && !known.contains(&key)
                && !known.iter().any(|name| name.split('[').next() == Some(&key))
            {
                return Err(format!("unknown query {one}"));
            }
        }
        self.check_body(seen, operation)?;
        let security = operation.get("security").unwrap_or(&self.document["security"]);
        let is_asked = security
            .as_array()
            .is_some_and(|ways| !ways.is_empty() && ways.iter().all(|way| way != &json!({})));
        let has_key = seen.headers.contains_key("authorization")
            || seen.headers.keys().any(|name| name.contains("key"));
        if is_asked && !has_key { Err("nobody has logged in".to_owned()) } else { Ok(()) }
    }

    fn check_body(&self, seen: &Seen, operation: &Value) -> Result<(), String> {
        let Some(body) = operation.get("requestBody") else {
            return if seen.body.is_empty() {
                Ok(())
            } else {
                Err("a body that nobody asked for".to_owned())
            };
        };
        let body = resolved(body, &self.document);
        if seen.body.is_empty() {
            return if body["required"] == true { Err("no body".to_owned()) } else { Ok(()) };
        }
        let kind = seen.headers.get("content-type").map_or("", |kind| kind.split(';').next().unwrap());
        let content = body["content"].as_object().unwrap();
        let media =
            content.iter().find(|(name, _)| name.split(';').next() == Some(kind)).map(|(_, media)| media);
        let media = media.ok_or_else(|| format!("a body of type {kind}"))?;
        let schema = resolved(&media["schema"], &self.document);
        let read_only =
            |name: &str| resolved(&schema["properties"][name], &self.document)["readOnly"] == true;
        let needed = schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str);
        // Some documents require what they do not have.
        let is_known = |name: &str| schema["properties"].get(name).is_some();
        let needed: Vec<&str> = needed.filter(|name| is_known(name) && !read_only(name)).collect();
        if kind.ends_with("json") {
            let sent: Value = serde_json::from_slice(&seen.body).map_err(|error| error.to_string())?;
            if let Some(name) =
                needed.iter().find(|name| sent.get(**name).is_none() && schema["type"] == "object")
            {
                return Err(format!("the body has no {name}"));
            }
        } else if kind.contains("form") {
            let text = seen.text();
            if let Some(name) = needed.iter().find(|name| !text.contains(**name)) {
                return Err(format!("the form has no {name}"));
            }
        }
        Ok(())
    }

    fn answer(&self, operation: &Value) -> Canned {
        let all = operation["responses"].as_object();
        let good = all.and_then(|all| {
            all.iter()
                .filter(|(status, _)| status.starts_with('2'))
                .min_by_key(|(status, _)| status.to_string())
        });
        let Some((status, response)) = good else { return (200, Vec::new(), Vec::new()) };
        let status: u16 = status.parse().unwrap_or(200);
        let response = resolved(response, &self.document);
        let Some((kind, media)) = response["content"].as_object().and_then(|all| all.iter().next()) else {
            return (status, Vec::new(), Vec::new());
        };
        let body = match kind.split(';').next().unwrap() {
            kind if kind.ends_with("json") => {
                sample(&media["schema"], &self.document, 1).to_string().into_bytes()
            }
            kind if kind.starts_with("text/") => b"some text".to_vec(),
            _ => vec![1, 2, 3],
        };
        (status, vec![("Content-Type", kind.clone())], body)
    }
}

fn decoded(text: &str) -> String {
    text.replace("%5B", "[")
        .replace("%5D", "]")
        .replace("%3A", ":")
        .replace("%20", " ")
        .replace("%3C", "<")
        .replace("%3E", ">")
        .replace("%2C", ",")
        .replace("%24", "$")
}
