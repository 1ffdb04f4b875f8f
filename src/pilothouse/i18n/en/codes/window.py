"""English texts of the codes about the context window, compression and images."""

from collections.abc import Mapping

from pilothouse.domain.codes import Code

WINDOW: Mapping[Code, str] = {
    Code.WINDOW_FULL: (
        "The conversation doesn't fit into the context window of {budget} tokens: the system prompt takes {prompt} "
        "tokens and the tool definitions {tools}. Disable tools or MCP servers, shorten the persona or the branch's "
        "instructions, or choose a model with a larger context window."
    ),
    Code.NOTHING_TO_COMPRESS: (
        "Nothing to compact: of the {messages} messages, the latest ones (up to {recent}, as many as fit) and the "
        "pinned ones are kept."
    ),
    Code.NOT_COMPRESSED: "Nothing to restore: the branch {branch!r} hasn't been compacted.",
    Code.ORIGINAL_GONE: "Can't restore the compacted messages: the branch {original!r}, which held them, was deleted.",
    Code.TOO_MANY_PINS: "You can pin at most {limit} messages.",
    Code.RESULTS_CUT: (
        "To fit the context window, long results ({count}) were sent shortened, which saves {tokens} tokens."
    ),
    Code.MESSAGES_SHORTENED: (
        "To fit the context window of {budget} tokens, some messages ({count}) were sent to the model shortened. The "
        "full text is kept here."
    ),
    Code.MESSAGES_LEFT_OUT: (
        "To fit the context window of {budget} tokens, some messages ({count}) weren't sent to the model. Everything "
        "is kept here. To send a summary of them, compact the conversation."
    ),
    Code.PINS_SHORTENED: (
        "The pinned messages are too long for the context window of {budget} tokens, so {count} of them were sent "
        "shortened or left out. Unpin some to send the others in full."
    ),
    Code.MODEL_TOO_LONG: "The request is too long for the model: {detail}",
    Code.IMAGE_SOURCE: "An image needs exactly one source. Choose one of: {allowed}. Given: {given}.",
    Code.IMAGE_ADDRESS: "This isn't a valid image URL. Use one of: {allowed}.",
    Code.IMAGE_BASE64: "The image isn't valid base64: {detail}.",
    Code.IMAGE_KIND: (
        "This isn't a supported image ({size} bytes). Use one of: {allowed} (recognized by the first bytes)."
    ),
    Code.IMAGE_TOO_LARGE: "The image is too large: it has {size} bytes, and at most {limit} are allowed.",
    Code.IMAGE_UNSEEN: (
        "The model can't see images. Choose a model that can, or send the image again with recognition 'ocr'."
    ),
    Code.IMAGE_ELSEWHERE: (
        "Images given by URL are never downloaded here, so only a model that sees images can look at them. Send the "
        "image itself, or choose a model that sees images and leave out recognition 'ocr'."
    ),
    Code.OCR_MISSING: (
        "Can't read text in images: the program tesseract isn't installed. Install it with 'apt install "
        "tesseract-ocr', or choose a model that sees images."
    ),
    Code.OCR_TIMED_OUT: (
        "Reading the text in the image took longer than {seconds} seconds. Send a smaller image, or choose a model "
        "that sees images."
    ),
    Code.OCR_FAILED: (
        "The text in the image couldn't be read (tesseract: {detail}). The image may be damaged or "
        "too large: send another one, or choose a model that sees images."
    ),
    Code.OCR_EMPTY: "No text was found in the image.",
}
