//! Addresses that may be asked and those that may not, as tables.

use url::Url;

use super::*;

fn guard(allow: &[&str]) -> Guard {
    let allow: Vec<String> = allow.iter().map(|entry| (*entry).to_owned()).collect();
    Guard::new(&allow).expect("allowed addresses")
}

fn check(guard: &Guard, url: &str) -> Result<Trust, String> {
    guard.check(&Url::parse(url).expect("a URL"))
}

#[test]
fn what_is_not_public_is_refused() {
    let guard = Guard::default();
    for (url, word) in [
        ("http://127.0.0.1/", "loopback"),
        ("http://127.8.9.10:8080/", "loopback"),
        ("http://10.1.2.3/", "private"),
        ("http://172.16.0.1/", "private"),
        ("http://172.31.255.255/", "private"),
        ("http://192.168.1.1/", "private"),
        ("http://169.254.1.1/", "link-local"),
        ("http://169.254.169.254/latest/meta-data/", "metadata"),
        ("http://169.254.170.2/v2/credentials", "metadata"),
        ("http://168.63.129.16/", "metadata"),
        ("http://100.100.100.200/", "metadata"),
        ("http://100.64.0.1/", "carrier"),
        ("http://0.0.0.0/", "unspecified"),
        ("http://0/", "unspecified"),
        ("http://192.0.0.8/", "protocols"),
        ("http://192.0.2.1/", "documentation"),
        ("http://198.18.0.1/", "benchmarks"),
        ("http://224.0.0.1/", "multicast"),
        ("http://255.255.255.255/", "reserved"),
        // The same addresses in other spellings.
        ("http://2130706433/", "loopback"),
        ("http://0x7f.1/", "loopback"),
        ("http://0x7f000001/", "loopback"),
        ("http://017700000001/", "loopback"),
        ("http://127.1/", "loopback"),
        ("http://127.0.0.1./", "loopback"),
        ("http://%31%32%37.0.0.1/", "loopback"),
        ("http://①②⑦.⓪.⓪.①/", "loopback"),
        ("http://0251.0376.0251.0376/", "metadata"),
        ("http://[::1]/", "loopback"),
        ("http://[::]/", "unspecified"),
        ("http://[::ffff:127.0.0.1]/", "loopback"),
        ("http://[::ffff:a9fe:a9fe]/", "metadata"),
        ("http://[::127.0.0.1]/", "disguise"),
        ("http://[::ffff:0:127.0.0.1]/", "disguise"),
        ("http://[64:ff9b::7f00:1]/", "loopback"),
        ("http://[64:ff9b:1::1]/", "private"),
        ("http://[2002:7f00:1::]/", "loopback"),
        ("http://[2002:c0a8:101::1]/", "private"),
        ("http://[2001:0:1:2:3:4:5:6]/", "protocols"),
        ("http://[2001:db8::1]/", "documentation"),
        ("http://[2600::5efe:7f00:1]/", "loopback"),
        ("http://[fc00::1]/", "private"),
        ("http://[fd00:ec2::254]/", "private"),
        ("http://[fe80::1]/", "link-local"),
        ("http://[fec0::1]/", "private"),
        ("http://[ff02::1]/", "multicast"),
        ("http://[100::1]/", "reserved"),
        ("http://[4000::1]/", "reserved"),
        // Names that always mean it.
        ("http://localhost/", "this machine"),
        ("http://LOCALHOST.:3000/", "this machine"),
        ("http://any.localhost/", "this machine"),
        ("http://metadata.google.internal/computeMetadata/v1/", "metadata"),
        ("http://metadata.google.internal./", "metadata"),
        ("http://instance-data/latest", "metadata"),
        // Schemes, and what belongs to nobody else.
        ("file:///etc/passwd", "scheme file"),
        ("ftp://example.com/a", "scheme ftp"),
        ("data:text/html,hello", "scheme data"),
        ("javascript:alert(1)", "scheme javascript"),
        ("gopher://example.com/", "scheme gopher"),
        ("http://user@example.com/", "user name"),
        ("http://user:secret@example.com/", "password"),
    ] {
        let refused = check(&guard, url).expect_err(url);
        assert!(refused.contains(word), "{url}: {refused}");
        assert!(!refused.contains("secret"), "{refused}");
    }
}

#[test]
fn what_is_public_may_be_asked() {
    for url in [
        "http://example.com/",
        "https://example.com:8443/a",
        "http://8.8.8.8/",
        "http://172.15.0.1/",
        "http://172.32.0.1/",
        "http://100.63.0.1/",
        "http://100.128.0.1/",
        "http://169.253.0.1/",
        "http://192.0.1.1/",
        "http://[2606:4700::1]/",
        "http://[64:ff9b::808:808]/",
        "http://[2002:808:808::1]/",
        "http://[::ffff:8.8.8.8]/",
        "http://mylocalhost/",
    ] {
        assert_eq!(check(&Guard::default(), url), Ok(Trust::Public), "{url}");
    }
}

#[test]
fn what_is_named_may_be_asked_and_no_more() {
    let guard = guard(&[
        "127.0.0.1:8400",
        "Intranet.example:443",
        "10.0.0.0/8",
        "192.168.7.7",
        "[::1]:9",
        "wiki.corp",
    ]);
    for (url, may) in [
        ("http://127.0.0.1:8400/a", true),
        ("http://0x7f.1:8400/a", true),
        ("http://127.0.0.1:8401/a", false),
        ("http://127.0.0.1/a", false),
        ("http://127.0.0.2:8400/a", false),
        ("http://localhost:8400/a", false),
        ("https://intranet.example/a", true),
        ("http://10.255.0.1:77/", true),
        ("http://11.0.0.1/", true),
        ("http://192.168.7.7:1/", true),
        ("http://192.168.7.8/", false),
        ("http://[::1]:9/", true),
        ("http://[::1]/", false),
        ("http://wiki.corp:1234/", true),
        ("file://127.0.0.1/etc/passwd", false),
        ("http://user:secret@127.0.0.1:8400/", false),
    ] {
        assert_eq!(check(&guard, url).is_ok(), may, "{url}");
    }
    assert_eq!(check(&guard, "https://intranet.example/a"), Ok(Trust::Named));
    assert_eq!(check(&guard, "http://intranet.example/a"), Ok(Trust::Public));
    assert_eq!(guard.refused([10, 0, 0, 1].into()), None);
    assert_eq!(guard.refused([127, 0, 0, 1].into()), Some("a loopback address"));
}

#[test]
fn entries_that_are_none_are_told() {
    for entry in ["", "http://a.example", "a b", "*.example.com", "a:99999", "10.0.0.0/99", "me@host"] {
        let error = Guard::new(&[entry.to_owned()]).expect_err(entry).to_string();
        assert!(error.contains(&format!("\"{entry}\"")), "{error}");
    }
}
