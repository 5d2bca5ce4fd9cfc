use super::*;
use axum::Router;
use axum::body::Body;
use axum::routing::get;
use tower::ServiceExt as _;

const TOKEN: &str = "0123456789abcdef0123456789abcdef";
const HOST: &str = "127.0.0.1:7420";

async fn answer(method: &str, path: &str, headers: &[(&str, &str)]) -> Response {
    let access = Access::new(AccessToken::parse(TOKEN).unwrap(), HOST.parse().unwrap());
    let router = Router::new()
        .route("/", get(|| async { "the page" }).post(|| async { "done" }))
        .route("/assets/pleat.js", get(|| async { "the script" }))
        .layer(axum::middleware::from_fn_with_state(access, guard));
    let mut request = Request::builder().method(method).uri(path);
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    router.oneshot(request.body(Body::empty()).unwrap()).await.unwrap()
}

async fn status(method: &str, path: &str, headers: &[(&str, &str)]) -> u16 {
    let response = answer(method, path, headers).await;
    assert!(!response.headers().contains_key("access-control-allow-origin"));
    assert!(response.headers().contains_key("content-security-policy"));
    response.status().as_u16()
}

fn cookie() -> String {
    format!("other=1; pleat-7420={TOKEN}")
}

#[tokio::test]
async fn without_the_cookie_nothing_is_served() {
    for (method, path) in [("GET", "/"), ("GET", "/assets/pleat.js"), ("GET", "/nowhere"), ("OPTIONS", "/")] {
        let same_site = ("sec-fetch-site", "same-origin");
        assert_eq!(status(method, path, &[("host", HOST), same_site]).await, 401, "{method} {path}");
    }
    let posted = [("host", HOST), ("origin", "http://127.0.0.1:7420")];
    assert_eq!(status("POST", "/", &posted).await, 401);
    let wrong = format!("pleat-7420={}", TOKEN.replace('0', "1"));
    assert_eq!(status("GET", "/", &[("host", HOST), ("cookie", &wrong)]).await, 401);
    let of_another_server = format!("pleat-7421={TOKEN}");
    assert_eq!(status("GET", "/", &[("host", HOST), ("cookie", &of_another_server)]).await, 401);
}

#[tokio::test]
async fn the_link_gives_the_cookie_and_the_cookie_lets_in() {
    let response = answer("GET", &format!("/login?token={TOKEN}"), &[("host", HOST)]).await;
    assert_eq!(response.status(), 200);
    let set = response.headers()["set-cookie"].to_str().unwrap();
    assert!(set.starts_with(&format!("pleat-7420={TOKEN}; HttpOnly; SameSite=Strict; Path=/")), "{set}");
    assert_eq!(status("GET", "/", &[("host", HOST), ("cookie", &cookie())]).await, 200);

    for path in ["/login", "/login?token=", "/login?token=x"] {
        let response = answer("GET", path, &[("host", HOST)]).await;
        assert_eq!(response.status(), 401, "{path}");
        assert!(!response.headers().contains_key("set-cookie"));
    }
}

#[tokio::test]
async fn foreign_hosts_and_origins_are_refused_even_with_the_cookie() {
    let cookie = cookie();
    let cookie = ("cookie", cookie.as_str());
    assert_eq!(status("GET", "/", &[cookie]).await, 403);
    assert_eq!(status("GET", "/", &[("host", "evil.example:7420"), cookie]).await, 403);
    assert_eq!(status("GET", "/", &[("host", HOST), ("origin", "http://evil.example"), cookie]).await, 403);
    assert_eq!(status("POST", "/", &[("host", HOST), ("origin", "null"), cookie]).await, 403);
    assert_eq!(status("POST", "/", &[("host", HOST), cookie]).await, 403);
    assert_eq!(status("POST", "/", &[("host", HOST), ("sec-fetch-site", "cross-site"), cookie]).await, 403);
    assert_eq!(status("POST", "/", &[("host", HOST), ("sec-fetch-site", "same-origin"), cookie]).await, 200);
    assert_eq!(status("POST", "/", &[("host", HOST), ("origin", "http://127.0.0.1:7420"), cookie]).await, 200);
}
