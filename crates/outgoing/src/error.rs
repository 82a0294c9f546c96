//! Why a request gave no answer.

/// Why a request gave no answer. No message names an address or a key.
#[derive(Debug, thiserror::Error)]
pub enum OutgoingError {
    /// The address, where a name or a redirect led, or the scheme is not allowed. Always the same words, so
    /// that nobody can map a network by them.
    #[error("that address is not allowed")]
    Refused,
    /// The name is unknown, nobody answers there, or the connection broke.
    #[error("the server cannot be reached")]
    Unreachable(#[source] reqwest::Error),
    /// There was no whole answer in time.
    #[error("the server did not answer in time")]
    Timeout,
    /// The answer is larger than the limit.
    #[error("the server's answer is larger than {limit} bytes")]
    TooLarge {
        /// The limit in bytes.
        limit: usize,
    },
    /// One redirect followed another, or one led to what is no URL.
    #[error("the server redirects too often, or to an invalid address")]
    Redirects,
    /// The client could not be set up.
    #[error("cannot create the request")]
    Setup(String),
}

/// What the look-up says of a name that leads where it must not.
#[derive(Debug, thiserror::Error)]
#[error("that address is not allowed")]
pub(crate) struct Forbidden;

impl From<reqwest::Error> for OutgoingError {
    fn from(error: reqwest::Error) -> Self {
        let mut cause: Option<&(dyn std::error::Error + 'static)> = Some(&error);
        while let Some(one) = cause {
            if one.is::<Forbidden>() {
                return Self::Refused;
            }
            cause = one.source();
        }
        // The URL may contain a key.
        if error.is_timeout() { Self::Timeout } else { Self::Unreachable(error.without_url()) }
    }
}
