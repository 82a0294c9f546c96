//! Where metadata is, by a server's URL, and which servers a name covers.

use reqwest::Url;

/// A server's URL as a token names it.
pub(super) fn canonical(server: &Url) -> String {
    let mut url = server.clone();
    url.set_query(None);
    url.set_fragment(None);
    let text = url.to_string();
    if url.path() == "/" { text.trim_end_matches('/').to_owned() } else { text }
}

/// Whether a resource is the server, or the part of its host that the server is in.
pub(super) fn covers(resource: &str, server: &Url) -> bool {
    let Ok(resource) = Url::parse(resource) else { return false };
    let whole = |path: &str| format!("{}/", path.trim_end_matches('/'));
    resource.origin() == server.origin()
        && resource.fragment().is_none()
        && whole(server.path()).starts_with(&whole(resource.path()))
}

/// Where a server's metadata may be, the most particular place first.
pub(super) fn resource_urls(server: &Url) -> Vec<Url> {
    well_known(
        server,
        &[("oauth-protected-resource", Place::Inserted), ("oauth-protected-resource", Place::Root)],
    )
}

/// Where an authorization server's metadata may be, in the order in which to look.
pub(super) fn authorization_server_urls(issuer: &Url) -> Vec<Url> {
    well_known(
        issuer,
        &[
            ("oauth-authorization-server", Place::Inserted),
            ("openid-configuration", Place::Inserted),
            ("openid-configuration", Place::Appended),
        ],
    )
}

#[derive(Clone, Copy)]
enum Place {
    /// Between host and path.
    Inserted,
    /// After the path.
    Appended,
    /// Without the path.
    Root,
}

fn well_known(base: &Url, places: &[(&str, Place)]) -> Vec<Url> {
    let path = base.path().trim_end_matches('/');
    let mut urls: Vec<Url> = Vec::new();
    for (name, place) in places {
        let mut url = base.clone();
        url.set_query(None);
        url.set_fragment(None);
        url.set_path(&match place {
            Place::Inserted => format!("/.well-known/{name}{path}"),
            Place::Appended => format!("{path}/.well-known/{name}"),
            Place::Root => format!("/.well-known/{name}"),
        });
        if !urls.contains(&url) {
            urls.push(url);
        }
    }
    urls
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use reqwest::Url;

    use super::{authorization_server_urls, canonical, covers, resource_urls};

    fn texts(urls: Vec<Url>) -> Vec<String> {
        urls.into_iter().map(String::from).collect()
    }

    fn url(text: &str) -> Url {
        Url::parse(text).unwrap()
    }

    #[test]
    fn metadata_is_looked_for_in_the_order_that_the_specification_gives() {
        assert_eq!(
            texts(resource_urls(&url("https://h/public/mcp?x=1"))),
            [
                "https://h/.well-known/oauth-protected-resource/public/mcp",
                "https://h/.well-known/oauth-protected-resource"
            ]
        );
        assert_eq!(
            texts(resource_urls(&url("https://h/"))),
            ["https://h/.well-known/oauth-protected-resource"]
        );
        assert_eq!(
            texts(authorization_server_urls(&url("https://h:8443/tenant1"))),
            [
                "https://h:8443/.well-known/oauth-authorization-server/tenant1",
                "https://h:8443/.well-known/openid-configuration/tenant1",
                "https://h:8443/tenant1/.well-known/openid-configuration"
            ]
        );
        assert_eq!(
            texts(authorization_server_urls(&url("https://h"))),
            [
                "https://h/.well-known/oauth-authorization-server",
                "https://h/.well-known/openid-configuration"
            ]
        );
    }

    #[test]
    fn a_resource_covers_only_what_is_below_it() {
        let server = url("https://h/a/mcp");
        for (resource, covered) in [
            ("https://h/a/mcp", true),
            ("https://h/a/mcp/", true),
            ("https://h/a", true),
            ("https://h", true),
            ("https://h/a/mc", false),
            ("https://h/a/mcp/b", false),
            ("https://h/b", false),
            ("https://other/a/mcp", false),
            ("http://h/a/mcp", false),
            ("https://h:444/a/mcp", false),
            ("mcp", false),
        ] {
            assert_eq!(covers(resource, &server), covered, "{resource}");
        }
    }

    #[test]
    fn a_server_is_named_without_query_fragment_and_lone_slash() {
        assert_eq!(canonical(&url("https://H:443/mcp?a=1#b")), "https://h/mcp");
        assert_eq!(canonical(&url("https://h/")), "https://h");
    }

    proptest! {
        #[test]
        fn no_path_leads_to_another_host(path in "\\PC{0,60}") {
            let mut base = url("https://h.example/");
            base.set_path(&path);
            for found in resource_urls(&base).into_iter().chain(authorization_server_urls(&base)) {
                prop_assert_eq!(found.origin(), base.origin());
            }
        }
    }
}
