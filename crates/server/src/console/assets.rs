//! The files of the console, as the build script packed them.

use std::borrow::Cow;

use axum::response::{IntoResponse, Response};
use http::{HeaderMap, HeaderValue, header};

include!(concat!(env!("OUT_DIR"), "/console.rs"));

/// A file, compressed.
pub(super) struct File {
    name: &'static str,
    kind: &'static str,
    gzip: &'static [u8],
}

pub(super) fn find(name: &str) -> Option<&'static File> {
    FILES.iter().find(|file| file.name == name)
}

impl File {
    /// Compressed if the client can take that.
    pub(super) fn answer(&self, headers: &HeaderMap) -> Response {
        let (body, encoding) = match takes_gzip(headers) {
            true => (Cow::Borrowed(self.gzip), Some(HeaderValue::from_static("gzip"))),
            false => (Cow::Owned(self.unpacked()), None),
        };
        let mut response = body.into_response();
        let answer = response.headers_mut();
        answer.insert(header::CONTENT_TYPE, HeaderValue::from_static(self.kind));
        answer.insert(header::VARY, HeaderValue::from_static("accept-encoding"));
        if let Some(encoding) = encoding {
            answer.insert(header::CONTENT_ENCODING, encoding);
        }
        response
    }

    fn unpacked(&self) -> Vec<u8> {
        // Ten bytes before the data, checksum and length behind it.
        let data = self.gzip.get(10..self.gzip.len().saturating_sub(8)).unwrap_or_default();
        miniz_oxide::inflate::decompress_to_vec(data).unwrap_or_default()
    }
}

fn takes_gzip(headers: &HeaderMap) -> bool {
    let texts = headers.get_all(header::ACCEPT_ENCODING).iter().filter_map(|value| value.to_str().ok());
    texts.flat_map(|text| text.split(',')).any(|coding| {
        let (name, rest) = coding.split_once(';').unwrap_or((coding, ""));
        name.trim().eq_ignore_ascii_case("gzip")
            && !matches!(rest.trim(), "q=0" | "q=0.0" | "q=0.00" | "q=0.000")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_file_is_what_it_was_before_it_was_packed() {
        let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("console");
        for file in FILES.iter().filter(|file| !file.name.ends_with(".html")) {
            assert_eq!(file.unpacked(), std::fs::read(root.join(file.name)).unwrap(), "{}", file.name);
        }
        for (page, program) in [("index.html", "main.js"), ("docs.html", "docs.js")] {
            let page = String::from_utf8(find(page).unwrap().unpacked()).unwrap();
            let named = format!("/console/a/{HASH}/{program}");
            assert!(page.contains(&named) && !page.contains("/a/dev/"), "{page}");
        }
    }

    #[test]
    fn the_program_carries_less_than_a_megabyte_of_the_console() {
        let bytes: usize = FILES.iter().map(|file| file.gzip.len() + file.name.len() + file.kind.len()).sum();
        assert!(bytes < 1_000_000, "{bytes} bytes");
    }

    #[test]
    fn a_client_says_whether_it_takes_gzip() {
        for (accepts, takes) in [
            ("gzip, deflate, br", true),
            ("br;q=1.0, GZIP;q=0.8", true),
            ("gzip;q=0", false),
            ("identity", false),
        ] {
            let headers = HeaderMap::from_iter([(header::ACCEPT_ENCODING, accepts.parse().unwrap())]);
            assert_eq!(takes_gzip(&headers), takes, "{accepts}");
        }
    }
}
