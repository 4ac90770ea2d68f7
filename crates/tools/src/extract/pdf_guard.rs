//! Checks that keep a PDF reader without bounds from going round in circles.

use pdf_extract::content::Content;
use pdf_extract::{Dictionary, Document, Object, ObjectId, Stream};

/// Deepest page tree and nesting of forms.
const MAX_DEPTH: usize = 32;
/// Most forms that a page may draw, forms in forms included.
const MAX_FORMS: usize = 10_000;

/// Whether reading a page ends: its parents lead to a root, its forms do not draw themselves, and a chance to be
/// shown in a reasonable time.
pub fn is_safe_page(document: &Document, id: ObjectId) -> bool {
    let Ok(page) = document.get_dictionary(id) else { return false };
    if !has_root(document, page) {
        return false;
    }
    let Ok(content) = document.get_page_content(id) else { return false };
    let resources = inherited(document, page, b"Resources");
    let mut budget = MAX_FORMS;
    draws_end(document, &content, resources, MAX_DEPTH, &mut budget)
}

fn has_root(document: &Document, page: &Dictionary) -> bool {
    let mut node = page;
    for _ in 0..MAX_DEPTH * 8 {
        match parent(document, node) {
            Some(above) => node = above,
            None => return true,
        }
    }
    false
}

fn parent<'a>(document: &'a Document, node: &'a Dictionary) -> Option<&'a Dictionary> {
    document.get_dictionary(node.get(b"Parent").and_then(Object::as_reference).ok()?).ok()
}

/// An entry of a page or the nearest of its parents. Only called where the parents lead to a root.
fn inherited<'a>(document: &'a Document, page: &'a Dictionary, key: &[u8]) -> Option<&'a Dictionary> {
    let mut node = page;
    loop {
        if let Ok(found) = node.get_deref(key, document) {
            return found.as_dict().ok();
        }
        node = parent(document, node)?;
    }
}

/// Whether drawing the forms of a content ends within depth and budget.
fn draws_end(
    document: &Document,
    content: &[u8],
    resources: Option<&Dictionary>,
    depth: usize,
    budget: &mut usize,
) -> bool {
    let Ok(content) = Content::decode(content) else { return true };
    let names = content.operations.iter().filter(|operation| operation.operator == "Do");
    for name in names.filter_map(|operation| operation.operands.first()?.as_name().ok()) {
        let Some(form) = resources.and_then(|resources| form(document, resources, name)) else { continue };
        if depth == 0 || *budget == 0 {
            return false;
        }
        *budget -= 1;
        let own = form.dict.get_deref(b"Resources", document).and_then(Object::as_dict).ok();
        let content = form.get_plain_content().unwrap_or_default();
        if !draws_end(document, &content, own.or(resources), depth - 1, budget) {
            return false;
        }
    }
    true
}

/// The form of a name. Images have no content that draws.
fn form<'a>(document: &'a Document, resources: &'a Dictionary, name: &[u8]) -> Option<&'a Stream> {
    let forms = resources.get_deref(b"XObject", document).and_then(Object::as_dict).ok()?;
    let form = forms.get_deref(name, document).and_then(Object::as_stream).ok()?;
    let is_image =
        form.dict.get(b"Subtype").and_then(Object::as_name).is_ok_and(|subtype| subtype == b"Image");
    (!is_image).then_some(form)
}
