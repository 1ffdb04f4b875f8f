/** What a person has said, as what could be sent again. */
import type { DataContext, FileReference, Image, QueuedMessage } from "../../../api/schema";
import type { Message } from "../../../api/types";
import { type Payload } from "../composer/sending";
import { type Reference, format, parse, payloadOf } from "../composer/references";

type Said = Message | QueuedMessage["messages"][number];

export function textOf(messages: readonly Said[]): string {
  return messages.flatMap((message) => (message.type === "text" ? [message.content] : [])).join("\n\n");
}

/** Whether somebody said it. What was only put into the conversation for them (a resource) cannot be said otherwise. */
export function isSaid(messages: readonly Said[]): boolean {
  return messages.some(({ type }) => type === "text" || type === "file_reference" || type === "image");
}

/** With another text: the files that the old one named go, those that the new one names come, the others stay. */
export function editedPayloads(
  messages: readonly Said[],
  text: string,
  references: readonly Reference[],
): readonly Payload[] {
  const before = new Set(parse(textOf(messages)).map(({ path, lines }) => format(path, lines)));
  const others = messages.filter((message) => message.type !== "file_reference" || !before.has(writtenAs(message)));
  return [
    ...(text.trim() === "" ? [] : [{ type: "text", content: text } as const]),
    ...references.map(payloadOf),
    ...filePayloads(others),
  ];
}

/** The same once more. */
export function payloadsOf(messages: readonly Said[]): readonly Payload[] {
  const text = textOf(messages);
  return [...(text === "" ? [] : [{ type: "text", content: text } as const]), ...filePayloads(messages)];
}

function filePayloads(messages: readonly Said[]): readonly Payload[] {
  return messages.flatMap((message): readonly Payload[] => {
    if (message.type === "image") return [imagePayload(message)];
    if (message.type !== "file_reference") return [];
    return [{ type: "file_reference", path: message.path, ...(message.range == null ? {} : { range: message.range }) }];
  });
}

function writtenAs({ path, range }: FileReference): string {
  const from = range?.start_line ?? null;
  return format(path, from === null ? null : { from, to: range?.end_line ?? from });
}

/** From where it came: a path is read again, an address asked again. */
function imagePayload({ path, url, data, recognition }: Image): Payload {
  const source = path != null ? { path } : url != null ? { url } : { base64: data ?? "" };
  return { type: "image", ...source, ...(recognition === undefined ? {} : { recognition }) };
}

/** What came with a message and was not said in it. */
export function attachedTo(messages: readonly Said[]): {
  data_context?: DataContext;
  extra_user_messages?: readonly string[];
} {
  const { data_context, extra_user_messages } = messages[0]?.metadata ?? {};
  return {
    ...(data_context == null ? {} : { data_context }),
    ...(extra_user_messages === undefined ? {} : { extra_user_messages }),
  };
}
