use super::*;

fn long(bytes: usize) -> String {
    "abcdefg\n".repeat(bytes / 8)
}

fn output(blocks: &Value) -> Vec<Value> {
    preview_output(blocks.as_array().unwrap()).unwrap()
}

#[test]
fn only_what_is_large_has_a_preview() {
    let text = |bytes: usize| json!("x".repeat(bytes - 2));
    assert_eq!(preview_input(&text(LARGE_VALUE_BYTES)), None);
    assert!(preview_input(&text(LARGE_VALUE_BYTES + 1)).is_some());
    // The brackets count too.
    assert_eq!(preview_output(&[text(LARGE_VALUE_BYTES - 2)]), None);
    assert!(preview_output(&[text(LARGE_VALUE_BYTES - 1)]).is_some());
}

#[test]
fn a_request_keeps_its_shape_and_says_how_long_it_is() {
    let input = json!({"path": "a.rs", "line": 7, "content": long(100_000)});
    let preview = preview_input(&input).unwrap();
    let PreviewOfInput { value, bytes } = of_input(&preview).unwrap();
    assert_eq!(bytes, input.to_string().len() as u64);
    assert_eq!((&value["path"], &value["line"]), (&json!("a.rs"), &json!(7)));
    assert_eq!(value["content"], json!(format!("{}…", long(2048))));
    assert!(!preview.is_object());
    assert_eq!(of_input(&input), None);
    assert_eq!(of_input(&json!([{"type": "text", "value": 1, "bytes": 1}])), None);
}

#[test]
fn a_terminal_keeps_both_ends_and_its_exit() {
    let text = format!("begin {} end", long(100_000));
    let blocks = output(&json!([{"type": "terminal", "output": text, "exit": {"exitCode": 1}}]));
    let shown = blocks[0]["output"].as_str().unwrap();
    assert!(shown.starts_with("begin ") && shown.contains("\n…\n") && shown.ends_with(" end"));
    assert!(shown.len() <= 2048 + "\n…\n".len());
    assert_eq!(blocks[0]["exit"], json!({"exitCode": 1}));
    assert_eq!(blocks[1]["type"], "preview");
    assert!(bytes_of_output(&blocks).unwrap() > 100_000);
    assert_eq!(bytes_of_output(&blocks[..1]), None);
}

#[test]
fn blocks_keep_what_says_what_they_are() {
    let resource = json!({"uri": "file:///a", "mimeType": "text/plain", "text": long(70_000)});
    let blocks = output(&json!([
        {"type": "content", "content": {"type": "image", "mimeType": "image/png", "data": long(70_000)}},
        {"type": "content", "content": {"type": "image", "mimeType": "image/png", "data": "aGVsbG8="}},
        {"type": "content", "content": {"type": "resource", "resource": resource}},
        {"type": "diff", "path": "b.rs", "oldText": null, "newText": long(70_000)},
    ]));
    // Half an image is none.
    assert_eq!(blocks[0], json!({"type": "content", "content": {"type": "image", "mimeType": "image/png"}}));
    assert_eq!(blocks[1]["content"]["data"], "aGVsbG8=");
    assert_eq!(blocks[2]["content"]["resource"]["uri"], "file:///a");
    assert_eq!((&blocks[3]["path"], &blocks[3]["oldText"]), (&json!("b.rs"), &Value::Null));
    assert!(blocks[3]["newText"].as_str().unwrap().ends_with('…'));
}

#[test]
fn the_first_diff_keeps_its_path_also_behind_many_blocks() {
    let path = format!("/{}", "folder/".repeat(2_000));
    let mut blocks = vec![json!({"type": "content", "content": {"type": "text", "text": long(1_000)}}); 200];
    blocks.push(json!({"type": "diff", "path": path, "newText": "x"}));
    blocks.push(json!({"type": "diff", "path": "second", "newText": "x"}));
    let preview = preview_output(&blocks).unwrap();
    let diffs: Vec<_> = preview.iter().filter(|block| block["type"] == "diff").collect();
    assert_eq!(diffs, [&json!({"type": "diff", "path": path})]);
}

#[test]
fn texts_are_cut_between_characters() {
    for text in ["é", "漢", "😀", "a😀"] {
        let whole = text.repeat(40_000);
        let shown = preview_input(&json!(whole)).unwrap();
        let shown = of_input(&shown).unwrap().value.as_str().unwrap().trim_end_matches('…');
        assert!(whole.starts_with(shown) && shown.len() > 2_000);
        let blocks = output(&json!([{"type": "terminal", "output": whole}]));
        let (head, tail) = blocks[0]["output"].as_str().unwrap().split_once("\n…\n").unwrap();
        assert!(whole.starts_with(head) && whole.ends_with(tail));
    }
}

#[test]
fn a_preview_is_short_whatever_it_is_of() {
    let escaped = "\u{1}".repeat(60_000);
    let mut deep = json!(long(70_000));
    for _ in 0..60 {
        deep = json!({"content": [deep.clone()], "path": "p"});
    }
    let wide: Value = (0..9_000).map(|n| (format!("member {n}"), json!([n, escaped[..9]]))).collect();
    let bushy = (0..3).fold(json!(vec![&escaped[..200]; 3]), |value, _| {
        json!({"type": value, "path": value, "exit": value, "uri": value, "name": value, "title": value, "output": value})
    });
    let named = json!({ long(70_000): 1, "type": "x" });
    for value in [json!(escaped), json!([escaped]), deep, wide.clone(), json!(vec![wide; 3]), bushy, named] {
        let preview = preview_input(&value).unwrap();
        assert!(preview.to_string().len() <= PREVIEW_BYTES, "{preview}");
        let preview = preview_output(&[value.clone(), value]).unwrap();
        assert!(serde_json::to_string(&preview).unwrap().len() <= PREVIEW_BYTES);
        assert_eq!(preview_output(&preview), None);
    }
}
