//! The web console: a page that holds nothing, and its files. What it shows, it asks of the REST API.

mod assets;
mod policy;

use axum::extract::Path;
use axum::response::{IntoResponse, Redirect, Response};
use http::{HeaderMap, HeaderValue, header};
use toolroom_contract::ErrorCode;

use crate::api::pages;
use crate::problems::problem;

/// What a browser keeps for good: another content has another address.
const FOR_GOOD: HeaderValue = HeaderValue::from_static("public, max-age=31536000, immutable");

/// The page, whatever its address: it is the page itself that reads it.
pub(crate) async fn page(headers: HeaderMap) -> Response {
    html("index.html", &headers)
}

/// The API, to read and to try in a browser; others get a list of what there is.
pub(crate) async fn docs(headers: HeaderMap) -> Response {
    if is_browser(&headers) { html("docs.html", &headers) } else { pages::docs().into_response() }
}

fn html(name: &str, headers: &HeaderMap) -> Response {
    let Some(file) = assets::find(name) else { return missing() };
    let mut response = file.answer(headers);
    policy::add(response.headers_mut());
    response
}

/// One of its files, under the hash of them all.
pub(crate) async fn file(Path((hash, name)): Path<(String, String)>, headers: HeaderMap) -> Response {
    let Some(file) = assets::find(&name).filter(|_| hash == assets::HASH) else { return missing() };
    let mut response = file.answer(&headers);
    response.headers_mut().insert(header::CACHE_CONTROL, FOR_GOOD);
    policy::keep_to_ourselves(response.headers_mut());
    response
}

/// Browsers are led to the console, others get a list of what there is.
pub(crate) async fn front_door(headers: HeaderMap) -> Response {
    match is_browser(&headers) {
        true => Redirect::temporary("/console/").into_response(),
        false => pages::index().into_response(),
    }
}

fn is_browser(headers: &HeaderMap) -> bool {
    let accept = headers.get(header::ACCEPT).and_then(|value| value.to_str().ok()).unwrap_or_default();
    accept.contains("text/html")
}

fn missing() -> Response {
    let detail = "The console has no such file. If the server was replaced by a newer one, reload the page.";
    problem(ErrorCode::NotFound, detail).into_response()
}
