//! An image of a message that is too large to stand in its page.

use crate::app::App;
use crate::failure::Failure;
use crate::view::message::harmless_image;
use axum::extract::{Path, State};
use axum::http::{HeaderName, StatusCode, header};
use axum::response::IntoResponse;
use base64::Engine as _;
use base64::alphabet::STANDARD;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use pleat_transcript::ids::{MessageId, SessionId};
use pleat_transcript::message::{Media, MediaKind};

/// What agents send, whether they pad it or not.
const LENIENT: GeneralPurpose = GeneralPurpose::new(
    &STANDARD,
    GeneralPurposeConfig::new()
        .with_decode_padding_mode(DecodePaddingMode::Indifferent)
        .with_decode_allow_trailing_bits(true),
);

/// Its bytes, as what a page itself would show: an image of a type that runs nothing.
pub(crate) async fn show(
    State(app): State<App>,
    Path((session, message, place)): Path<(String, String, usize)>,
) -> Result<impl IntoResponse, Failure> {
    let (session, message) = (SessionId::new(session)?, MessageId::new(message)?);
    let media = app.host.store().media(session, message, place).await?;
    let image = media.and_then(image);
    let (mime, bytes) =
        image.ok_or_else(|| Failure::new(StatusCode::NOT_FOUND, "There is no image at this address."))?;
    let headers: [(HeaderName, &str); 2] = [(header::CONTENT_TYPE, mime), (header::X_CONTENT_TYPE_OPTIONS, "nosniff")];
    Ok((headers, bytes))
}

/// A harmless type and what is in it.
fn image(media: Media) -> Option<(&'static str, Vec<u8>)> {
    let mime = harmless_image(media.mime.as_deref()).filter(|_| media.kind == MediaKind::Image)?;
    let mut base64 = media.data?.into_bytes();
    base64.retain(|byte| !byte.is_ascii_whitespace());
    Some((mime, LENIENT.decode(base64).ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use pleat_transcript::message::JsonObject;

    fn decoded(kind: MediaKind, mime: &str, data: &str) -> Option<(&'static str, Vec<u8>)> {
        let (mime, data, extra) = (Some(mime.to_owned()), Some(data.to_owned()), JsonObject::new());
        image(Media { kind, mime, data, uri: None, name: None, message_id: None, extra })
    }

    #[test]
    fn only_harmless_images_are_served() {
        for data in ["AQID", "AQ\r\nID\n"] {
            assert_eq!(decoded(MediaKind::Image, "image/png", data), Some(("image/png", vec![1, 2, 3])));
        }
        for data in ["AQ==", "AQ"] {
            assert_eq!(decoded(MediaKind::Image, "image/webp", data), Some(("image/webp", vec![1])));
        }
        for (kind, mime, data) in [
            (MediaKind::Image, "image/svg+xml", "AQID"),
            (MediaKind::Image, "text/html", "AQID"),
            (MediaKind::Image, "IMAGE/PNG", "AQID"),
            (MediaKind::Resource, "image/png", "AQID"),
            (MediaKind::Audio, "image/png", "AQID"),
            (MediaKind::Image, "image/png", "<script>"),
        ] {
            assert_eq!(decoded(kind, mime, data), None, "{kind:?} {mime} {data}");
        }
    }
}
