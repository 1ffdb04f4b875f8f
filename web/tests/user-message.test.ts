import fc from "fast-check";
import { expect, test } from "vitest";
import type { Message } from "../src/api/types";
import { parseReferences } from "../src/features/chat/composer/references";
import { displayTextOfFile, filesOf } from "../src/features/chat/user-message/FileChips";
import {
  carriedOver,
  displayTextOf,
  editedPayloads,
  payloadsOf,
  textOf,
} from "../src/features/chat/user-message/payloads";
import { previewOf } from "../src/features/chat/user-message/UserMessageText";
import { draftOf } from "../src/features/chat/user-message/DeliveryStatus";

const common = { timestamp: "2026-01-01T00:00:00Z", role: "user" } as const;
const stored: readonly Message[] = [
  {
    ...common,
    type: "text",
    message_id: "1",
    content: "compare @a.py:1-2 with @b.py",
    metadata: { extra_user_messages: ["be short"] },
  },
  { ...common, type: "file_reference", message_id: "2", path: "a.py", range: { start_line: 1, end_line: 2 } },
  { ...common, type: "file_reference", message_id: "3", path: "b.py" },
  { ...common, type: "file_reference", message_id: "4", path: "uploads/c.txt" },
  { ...common, type: "image", message_id: "5", data: "AAAA", media_type: "image/png" },
];

test("an edited message keeps attachments and refers to the files named in its new text", () => {
  const text = "look at @d.py and @b.py";
  expect(editedPayloads(stored, text, parseReferences(text))).toEqual([
    { type: "text", content: text },
    { type: "file_reference", path: "d.py" },
    { type: "file_reference", path: "b.py" },
    { type: "file_reference", path: "uploads/c.txt" },
    { type: "image", base64: "AAAA" },
  ]);
  expect(carriedOver(stored)).toEqual({ extra_user_messages: ["be short"] });
});

test("resending a message sends the same payloads", () => {
  expect(payloadsOf(stored)).toEqual([
    { type: "text", content: textOf(stored) },
    { type: "file_reference", path: "a.py", range: { start_line: 1, end_line: 2 } },
    { type: "file_reference", path: "b.py" },
    { type: "file_reference", path: "uploads/c.txt" },
    { type: "image", base64: "AAAA" },
  ]);
});

const displayed: readonly Message[] = [
  {
    ...common,
    type: "text",
    message_id: "1",
    content: "Result of lint:\n[]",
    metadata: { display_text: "Lint is clean" },
  },
  { ...common, type: "text", message_id: "2", content: "go on" },
  { ...common, type: "file_reference", message_id: "3", path: "a.py", metadata: { display_text: "The start file" } },
];

test("a message shows its display text, and is edited and resent with its content", () => {
  expect(displayTextOf(displayed)).toBe("Lint is clean\n\ngo on");
  expect(textOf(displayed)).toBe("Result of lint:\n[]\n\ngo on");
  expect(filesOf(displayed).map(displayTextOfFile)).toEqual(["The start file"]);
  expect(payloadsOf(displayed)).toEqual([
    { type: "text", content: "Result of lint:\n[]\n\ngo on", display: "Lint is clean\n\ngo on" },
    { type: "file_reference", path: "a.py", display_text: "The start file" },
  ]);
  expect(filesOf(payloadsOf(displayed)).map(displayTextOfFile)).toEqual(["The start file"]);
});

test("an edited message loses the display text of the old text", () => {
  expect(editedPayloads(displayed, "new", [])).toEqual([
    { type: "text", content: "new" },
    { type: "file_reference", path: "a.py", display_text: "The start file" },
  ]);
});

test("an unsent message becomes a draft with its attachments", () => {
  expect(draftOf(payloadsOf(stored).slice(0, 4))).toEqual({
    text: "compare @a.py:1-2 with @b.py",
    files: [{ path: "uploads/c.txt", size: null, kind: "file" }],
  });
});

test("a long text is cut to its beginning, a short one is complete", () => {
  fc.assert(
    fc.property(fc.string({ unit: fc.constantFrom("a", "\n", "文"), maxLength: 6000 }), (text) => {
      const { preview, isCut } = previewOf(text);
      expect(text.startsWith(preview)).toBe(true);
      expect(isCut).toBe(preview !== text);
      expect(preview.length).toBeLessThanOrEqual(isCut ? 1600 + 20 : 3000);
    }),
  );
  expect(previewOf("line\n".repeat(23)).isCut).toBe(false);
  expect(previewOf("line\n".repeat(60)).preview.split("\n")).toHaveLength(20);
  expect(previewOf("x".repeat(1_000_000)).preview).toHaveLength(1600);
});
