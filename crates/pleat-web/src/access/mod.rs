//! Who may use the server (case B39).
//!
//! Every request passes [`guard`] before anything else sees it: its `Host` must be one that we answer to, its `Origin`, if
//! any, our own, and it must carry the cookie that `/login?token=…` gives. A request that may change something must also
//! prove that one of our own pages sent it.

mod hosts;
pub(crate) mod token;

use crate::view::layout::bare_page;
use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use hosts::{Hosts, is_own_origin};
use maud::{Markup, html};
use std::net::SocketAddr;
use std::sync::Arc;
use token::AccessToken;

/// Who may use the server, and under which names it answers. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Access(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    token: AccessToken,
    listen: SocketAddr,
    hosts: Hosts,
    cookie: String,
}

/// How long a browser stays logged in, in seconds: as long as browsers allow.
const COOKIE_SECONDS: u32 = 400 * 24 * 60 * 60;

const CONTENT_SECURITY_POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; \
     connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'";

impl Access {
    /// Access to a server that listens at `listen` (the address it was given, with its real port) for those who know
    /// `token`.
    pub fn new(token: AccessToken, listen: SocketAddr) -> Self {
        Self::with_names(token, listen, Vec::new())
    }

    /// The same for a server that is also reached under further host names.
    pub fn with_names(token: AccessToken, listen: SocketAddr, names: Vec<String>) -> Self {
        // Cookies ignore the port, so two servers on one machine need two names.
        let cookie = format!("pleat-{}", listen.port());
        Self(Arc::new(Inner { token, listen, hosts: Hosts::new(listen, names), cookie }))
    }

    /// The link that logs a browser in.
    pub fn login_link(&self) -> String {
        let mut address = self.0.listen;
        if address.ip().is_unspecified() {
            let loopback = if address.is_ipv4() { "127.0.0.1" } else { "::1" };
            if let Ok(ip) = loopback.parse() {
                address.set_ip(ip);
            }
        }
        format!("http://{address}/login?token={}", self.0.token.as_str())
    }

    fn verdict(&self, request: &Request) -> Verdict {
        let headers = request.headers();
        let Some(host) = text(headers, header::HOST).filter(|host| self.0.hosts.answers_to(host)) else {
            return Verdict::ForeignHost;
        };
        if !came_from_us(request.method(), headers, host) {
            return Verdict::ForeignOrigin;
        }
        if request.uri().path() == "/login" && request.method() == Method::GET {
            let token = request.uri().query().and_then(token_of_query);
            return if token.is_some_and(|token| self.0.token.matches(token)) {
                Verdict::LogIn
            } else {
                Verdict::Unknown
            };
        }
        if self.has_cookie(headers) { Verdict::Allowed } else { Verdict::Unknown }
    }

    fn has_cookie(&self, headers: &HeaderMap) -> bool {
        headers
            .get_all(header::COOKIE)
            .iter()
            .filter_map(|value| value.to_str().ok())
            .flat_map(|value| value.split(';'))
            .filter_map(|pair| pair.trim().split_once('='))
            .any(|(name, value)| name == self.0.cookie && self.0.token.matches(value))
    }

    fn logged_in(&self) -> Response {
        let cookie = format!(
            "{}={}; HttpOnly; SameSite=Strict; Path=/; Max-Age={COOKIE_SECONDS}",
            self.0.cookie,
            self.0.token.as_str()
        );
        // A page that goes on by itself, not a redirect: where the link was followed from another site, browsers leave a
        // Strict cookie out of the whole chain of redirects, but not out of what our own page asks for.
        let head = html! { meta http-equiv="refresh" content="0; url=/"; };
        let page = bare_page("Pleat", &html! { p { "You are logged in. " a href="/" { "Go on" } } }, &head);
        let mut response = page.into_response();
        // The token is of characters that a header may hold.
        if let Ok(cookie) = HeaderValue::from_str(&cookie) {
            response.headers_mut().insert(header::SET_COOKIE, cookie);
        }
        response
    }
}

/// What becomes of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Verdict {
    Allowed,
    LogIn,
    ForeignHost,
    ForeignOrigin,
    Unknown,
}

/// Lets a request through, or answers it.
pub(crate) async fn guard(State(access): State<Access>, request: Request, next: Next) -> Response {
    let mut response = match access.verdict(&request) {
        Verdict::Allowed => next.run(request).await,
        Verdict::LogIn => access.logged_in(),
        Verdict::ForeignHost => refusal(
            StatusCode::FORBIDDEN,
            &html! { p { "Pleat does not answer under this host name. Use the address that " code { "pleat" } " printed." } },
        ),
        Verdict::ForeignOrigin => refusal(
            StatusCode::FORBIDDEN,
            &html! { p { "This request came from another page than Pleat's own, so nothing was done." } },
        ),
        Verdict::Unknown => refusal(
            StatusCode::UNAUTHORIZED,
            &html! { p { "To get in, open the link that " code { "pleat" } " printed when it started. It ends in " code { "/login?token=…" } "." } },
        ),
    };
    secure(response.headers_mut());
    response
}

fn refusal(status: StatusCode, content: &Markup) -> Response {
    (status, bare_page("Pleat", &html! { h1 { "Pleat" } (content) }, &html! {})).into_response()
}

fn secure(headers: &mut HeaderMap) {
    let fixed: [(HeaderName, &str); 5] = [
        (header::CONTENT_SECURITY_POLICY, CONTENT_SECURITY_POLICY),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        // Not `no-referrer`: with it browsers say `Origin: null` when a form is posted, and our own pages could not be
        // told from others. `same-origin` tells other sites as little.
        (header::REFERRER_POLICY, "same-origin"),
        (HeaderName::from_static("cross-origin-opener-policy"), "same-origin"),
        (HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
    ];
    for (name, value) in fixed {
        headers.insert(name, HeaderValue::from_static(value));
    }
    headers.entry(header::CACHE_CONTROL).or_insert(HeaderValue::from_static("no-store"));
}

/// Whether nothing speaks for another page as the sender, and, where the request may change something, one thing speaks
/// for our own.
fn came_from_us(method: &Method, headers: &HeaderMap, host: &str) -> bool {
    let only_reads = matches!(*method, Method::GET | Method::HEAD);
    match (text(headers, header::ORIGIN), headers.contains_key(header::ORIGIN)) {
        (Some(origin), _) => is_own_origin(origin, host),
        (None, true) => false,
        (None, false) => only_reads || headers.get("sec-fetch-site").is_some_and(|site| site == "same-origin"),
    }
}

fn text(headers: &HeaderMap, name: HeaderName) -> Option<&str> {
    headers.get(name).and_then(|value| value.to_str().ok())
}

fn token_of_query(query: &str) -> Option<&str> {
    query.split('&').find_map(|pair| pair.strip_prefix("token="))
}

#[cfg(test)]
mod tests;
