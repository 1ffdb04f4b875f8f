/** Converts a stored user message to payloads that can be sent again. */
import type { DataContext, FileReference, Image, QueuedMessage, Text } from "../../../api/schema";
import type { Message } from "../../../api/types";
import { type Payload } from "../composer/draftSubmission";
import { type Reference, formatReference, parseReferences, payloadOf } from "../composer/references";

type UserMessagePart = Message | QueuedMessage["messages"][number];

export function textOf(messages: readonly UserMessagePart[]): string {
  return messages.flatMap((message) => (message.type === "text" ? [message.content] : [])).join("\n\n");
}

/** The text as its sender wants it displayed. The model gets `textOf`. */
export function displayTextOf(messages: readonly UserMessagePart[]): string {
  return messages.flatMap((message) => (message.type === "text" ? [displayTextOfPart(message)] : [])).join("\n\n");
}

export function displayTextOfPart({ content, metadata }: Text): string {
  return metadata?.display_text || content;
}

/** Whether the user wrote the message. Resources that were added on their behalf cannot be edited. */
export function isUserMessage(messages: readonly UserMessagePart[]): boolean {
  return messages.some(({ type }) => type === "text" || type === "file_reference" || type === "image");
}

/**
 * The payloads of an edited message: files named only by the old text are removed, files named by the new text are
 * added, all others stay.
 */
export function editedPayloads(
  messages: readonly UserMessagePart[],
  text: string,
  references: readonly Reference[],
): readonly Payload[] {
  const previousReferences = new Set(
    parseReferences(textOf(messages)).map(({ path, lines }) => formatReference(path, lines)),
  );
  const unaffected = messages.filter(
    (message) => message.type !== "file_reference" || !previousReferences.has(referenceText(message)),
  );
  return [
    ...(text.trim() === "" ? [] : [{ type: "text", content: text } as const]),
    ...references.map(payloadOf),
    ...filePayloads(unaffected),
  ];
}

/** The payloads of the unchanged message. */
export function payloadsOf(messages: readonly UserMessagePart[]): readonly Payload[] {
  const content = textOf(messages);
  const display = displayTextOf(messages);
  const text = { type: "text", content, ...(display === content ? {} : { display }) } as const;
  return [...(content === "" ? [] : [text]), ...filePayloads(messages)];
}

function filePayloads(messages: readonly UserMessagePart[]): readonly Payload[] {
  return messages.flatMap((message): readonly Payload[] => {
    if (message.type === "image") return [imagePayload(message)];
    if (message.type !== "file_reference") return [];
    const { path, range, metadata } = message;
    const display = metadata?.display_text ?? null;
    return [
      {
        type: "file_reference",
        path,
        ...(range == null ? {} : { range }),
        ...(display === null ? {} : { display_text: display }),
      },
    ];
  });
}

function referenceText({ path, range }: FileReference): string {
  const from = range?.start_line ?? null;
  return formatReference(path, from === null ? null : { from, to: range?.end_line ?? from });
}

/** The payload of an image by its source: the server reads the path or fetches the URL again. */
function imagePayload({ path, url, data, recognition }: Image): Payload {
  const source = path != null ? { path } : url != null ? { url } : { base64: data ?? "" };
  return { type: "image", ...source, ...(recognition === undefined ? {} : { recognition }) };
}

/** Data that accompanied the message and is sent again with the edited version. */
export function carriedOver(messages: readonly UserMessagePart[]): {
  data_context?: DataContext;
  extra_user_messages?: readonly string[];
} {
  const { data_context, extra_user_messages } = messages[0]?.metadata ?? {};
  return {
    ...(data_context == null ? {} : { data_context }),
    ...(extra_user_messages === undefined ? {} : { extra_user_messages }),
  };
}
