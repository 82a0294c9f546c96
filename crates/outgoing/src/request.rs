//! What is asked of another server, and what it answers.

use http::{HeaderMap, Method, StatusCode, header};
use reqwest::Url;

use crate::error::OutgoingError;

/// A request.
#[derive(Clone, Debug)]
pub struct Request {
    /// GET unless there is a body.
    pub method: Method,
    /// Where to.
    pub url: Url,
    /// Headers, keys among them; they stay behind when a redirect leads to another server.
    pub headers: HeaderMap,
    /// The body.
    pub body: Option<Vec<u8>>,
}

/// The answer to the last of the redirects.
#[derive(Clone, Debug)]
pub struct Reply {
    /// The HTTP status.
    pub status: StatusCode,
    /// The headers.
    pub headers: HeaderMap,
    /// The body, as it came.
    pub body: Vec<u8>,
}

impl Request {
    /// A GET without headers.
    pub fn get(url: Url) -> Self {
        Self { method: Method::GET, url, headers: HeaderMap::new(), body: None }
    }

    /// The request that a redirect asks for; `None` if the answer is not a redirect.
    pub(crate) fn redirected(
        &self,
        status: StatusCode,
        headers: &HeaderMap,
    ) -> Result<Option<Self>, OutgoingError> {
        let Some(location) = headers.get(header::LOCATION).filter(|_| status.is_redirection()) else {
            return Ok(None);
        };
        let location = location.to_str().map_err(|_| OutgoingError::Redirects)?;
        let mut next = self.clone();
        next.url = self.url.join(location).map_err(|_| OutgoingError::Redirects)?;
        if next.url.origin() != self.url.origin() {
            next.headers.clear();
        }
        let same = matches!(status, StatusCode::TEMPORARY_REDIRECT | StatusCode::PERMANENT_REDIRECT);
        if !same && next.body.take().is_some() {
            next.method = Method::GET;
            next.headers.remove(header::CONTENT_TYPE);
        }
        Ok(Some(next))
    }
}
