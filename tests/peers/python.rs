//! `mcp-server-time` and `mcp-server-fetch`.

use std::path::Path;

use deepgraph_protocol::ErrorKind;
use deepgraph_runtime::tools::mcp::{Server, Transport};

use super::site::Site;
use super::{Part, call, command, connected, names, peers, text};

fn started(folder: &Path, program: &str, args: &[&str]) -> Transport {
    let program = folder.join("bin").join(program).to_string_lossy().into_owned();
    command(&[&[program.as_str()], args].concat())
}

async fn time(folder: &Path) -> Server {
    connected("time", started(folder, "mcp-server-time", &["--local-timezone", "Europe/Berlin"])).await
}

#[tokio::test]
async fn the_time_is_told_and_converted() {
    let Some(folder) = peers(Part::Python) else { return };
    let server = time(folder).await;
    assert_eq!(names(&server), ["convert_time", "get_current_time"]);
    let now = text(&server, "get_current_time", r#"{"timezone": "Asia/Tokyo"}"#).await;
    assert!(now.contains("Asia/Tokyo") && now.contains("+09:00"), "{now}");
    let converted = r#"{"source_timezone": "UTC", "time": "12:00", "target_timezone": "Asia/Tokyo"}"#;
    let converted = text(&server, "convert_time", converted).await;
    assert!(converted.contains("T21:00:00+09:00") && converted.contains("+9.0h"), "{converted}");
    let nowhere = call(&server, "get_current_time", r#"{"timezone": "Nowhere/None"}"#).await;
    let nowhere = nowhere.expect_err("there is no such zone");
    assert!(matches!(nowhere.kind, ErrorKind::Tool | ErrorKind::InvalidInput), "{nowhere}");
    assert!(nowhere.message.contains("Nowhere/None"), "{nowhere}");
    server.close().await;
}

#[tokio::test]
async fn a_page_is_fetched() {
    let Some(folder) = peers(Part::Python) else { return };
    let site = Site::of(|path| {
        (path == "/tides.html").then(|| {
            let body = "<html><head><title>Tides</title></head><body><article><h1>Tides</h1>\
                        <p>The tide at the harbour turns twice a day, six hours apart.</p></article></body></html>";
            ("text/html".to_owned(), body.as_bytes().to_vec())
        })
    });
    let server = connected("fetch", started(folder, "mcp-server-fetch", &["--allow-private-ips"])).await;
    assert_eq!(names(&server), ["fetch"]);
    let page = text(&server, "fetch", &format!(r#"{{"url": "{}/tides.html"}}"#, site.origin())).await;
    assert!(page.contains("turns twice a day, six hours apart"), "{page}");
    let gone = call(&server, "fetch", &format!(r#"{{"url": "{}/gone.html"}}"#, site.origin())).await;
    let gone = gone.expect_err("there is no such page");
    assert!(gone.message.contains("404"), "{gone}");
    server.close().await;
}
