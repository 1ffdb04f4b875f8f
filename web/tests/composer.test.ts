import fc from "fast-check";
import { expect, test } from "vitest";
import { type Api } from "../src/api/http";
import {
  type ComposerState,
  composerActionForKey,
  type ComposerKeyEvent,
} from "../src/features/chat/composer/composerKeys";
import { existingReferences, payloadsOfDraft, remainingDraft } from "../src/features/chat/composer/draftSubmission";
import { type Draft, NO_DRAFT, createDrafts, parseDraft, type DraftStorage } from "../src/features/chat/drafts";
import { unlistedOutgoing } from "../src/features/chat/queue/unlistedOutgoing";
import { type Outgoing } from "../src/store/state";
import { formatFileSize } from "../src/ui/fileSize";

function pressed(key: string, more: Partial<ComposerKeyEvent> = {}): ComposerKeyEvent {
  const none = { shiftKey: false, altKey: false, ctrlKey: false, metaKey: false };
  return { key, isComposing: false, keyCode: 0, repeat: false, defaultPrevented: false, ...none, ...more };
}
const BOX: ComposerState = {
  suggestionCount: null,
  isEmpty: false,
  isRunning: false,
  isTouch: false,
  sendKeys: "enter",
};

function createStorage(): DraftStorage & { readonly entries: Map<string, string> } {
  const entries = new Map<string, string>();
  return {
    entries,
    read: (key) => entries.get(key) ?? null,
    write: (key, value) => void (value === "" ? entries.delete(key) : entries.set(key, value)),
  };
}
const draft: fc.Arbitrary<Draft> = fc.record({
  text: fc.string({ unit: "binary" }),
  files: fc.array(
    fc.record({
      path: fc.string(),
      size: fc.option(fc.nat()),
      kind: fc.constantFrom("image" as const, "file" as const),
    }),
  ),
});

test("Enter sends, Shift+Enter and Enter on a touch screen break the line, and a held Enter does nothing", () => {
  expect(composerActionForKey(pressed("Enter"), BOX)).toBe("send");
  expect(composerActionForKey(pressed("Enter", { shiftKey: true }), BOX)).toBeNull();
  expect(composerActionForKey(pressed("Enter"), { ...BOX, isTouch: true })).toBeNull();
  expect(composerActionForKey(pressed("Enter", { repeat: true }), BOX)).toBe("nothing");
});

test("if Ctrl+Enter sends, Enter breaks the line, and an empty composer leaves Ctrl+Enter to pending calls", () => {
  const box: ComposerState = { ...BOX, sendKeys: "mod-enter" };
  expect(composerActionForKey(pressed("Enter"), box)).toBeNull();
  expect(composerActionForKey(pressed("Enter", { ctrlKey: true }), box)).toBe("send");
  expect(composerActionForKey(pressed("Enter", { metaKey: true }), box)).toBe("send");
  expect(composerActionForKey(pressed("Enter", { ctrlKey: true, shiftKey: true }), box)).toBeNull();
  expect(composerActionForKey(pressed("Enter", { ctrlKey: true }), { ...box, isEmpty: true })).toBeNull();
  expect(composerActionForKey(pressed("Enter"), { ...box, suggestionCount: 2 })).toBe("list_choose");
});

test("keys do nothing during IME composition", () => {
  const box = fc.record({
    suggestionCount: fc.option(fc.nat(9)),
    isEmpty: fc.boolean(),
    isRunning: fc.boolean(),
    isTouch: fc.boolean(),
    sendKeys: fc.constantFrom("enter" as const, "mod-enter" as const),
  });
  const key = fc.constantFrom("Enter", "Escape", "ArrowUp", "ArrowDown", "Tab");
  fc.assert(
    fc.property(key, box, (name, now) => {
      expect(composerActionForKey(pressed(name, { isComposing: true }), now)).toBeNull();
      expect(composerActionForKey(pressed(name, { keyCode: 229 }), now)).toBeNull();
    }),
  );
});

test("Esc closes the list first, then stops the turn, and ignores handled events", () => {
  const running = { ...BOX, isRunning: true };
  expect(composerActionForKey(pressed("Escape"), { ...running, suggestionCount: 0 })).toBe("list_close");
  expect(composerActionForKey(pressed("Escape"), running)).toBe("stop");
  expect(composerActionForKey(pressed("Escape", { defaultPrevented: true }), running)).toBeNull();
  expect(composerActionForKey(pressed("Escape"), BOX)).toBeNull();
});

test("an open suggestion list handles keys only if it has items", () => {
  expect(composerActionForKey(pressed("Enter"), { ...BOX, suggestionCount: 2 })).toBe("list_choose");
  expect(composerActionForKey(pressed("Tab"), { ...BOX, suggestionCount: 2 })).toBe("list_choose");
  expect(composerActionForKey(pressed("Enter"), { ...BOX, suggestionCount: 0 })).toBe("send");
  expect(composerActionForKey(pressed("Tab"), BOX)).toBeNull();
});

test("the last message is edited only from an empty box", () => {
  expect(composerActionForKey(pressed("ArrowUp"), { ...BOX, isEmpty: true })).toBe("edit_last");
  expect(composerActionForKey(pressed("ArrowUp"), BOX)).toBeNull();
});

test("a draft survives a reload for its own conversation", () => {
  fc.assert(
    fc.property(draft, draft, (one, other) => {
      const storage = createStorage();
      const before = createDrafts(storage);
      before.write("a", one);
      before.write(null, other);
      const after = createDrafts(storage);
      expect(after.read("a")).toEqual(one);
      expect(after.read(null)).toEqual(other);
      expect(after.read("b")).toEqual(NO_DRAFT);
    }),
  );
});

test("the draft of a new conversation moves to its id", () => {
  const storage = createStorage();
  const drafts = createDrafts(storage);
  drafts.write(null, { text: "hello" });
  drafts.contextCreated("a");
  expect(drafts.read("a").text).toBe("hello");
  drafts.append("a", { text: "more", files: [] });
  expect(drafts.read("a").text).toBe("hello\n\nmore");
  drafts.write("a", NO_DRAFT);
  expect([...storage.entries]).toEqual([]);
});

test("changes of a draft in another tab are adopted", () => {
  const storage = createStorage();
  const [here, there] = [createDrafts(storage), createDrafts(storage)];
  let notifications = 0;
  here.subscribe(() => notifications++);
  expect(here.read("a")).toBe(NO_DRAFT);
  there.write("a", { text: "hello" });
  here.storageChanged("pilothouse-draft-a");
  expect(here.read("a").text).toBe("hello");
  there.write("a", NO_DRAFT);
  here.storageChanged("pilothouse-draft-a");
  here.storageChanged("somebody-else");
  expect(here.read("a")).toEqual(NO_DRAFT);
  expect(notifications).toBe(2);
});

test("a queued message stays visible until the queue lists it or it is removed", () => {
  const sent: Outgoing = {
    key: "k",
    command: { kind: "send", id: "c", body: { queue: true } },
    messageId: null,
    acknowledged: null,
    problem: null,
  };
  const acknowledged = { ...sent, messageId: "m", acknowledged: 3 };
  const unanswered = unlistedOutgoing([], [sent], [], 0);
  const answered = unlistedOutgoing(unanswered, [acknowledged], [], 0);
  const unlisted = unlistedOutgoing(answered, [], [], 1);
  expect([unanswered, answered, unlisted]).toEqual([[sent], [acknowledged], [acknowledged]]);
  expect(unlistedOutgoing(answered, [acknowledged], ["m"], 1)).toEqual([]);
  expect(unlistedOutgoing(unlisted, [], ["m"], 1)).toEqual([]);
  expect(unlistedOutgoing(unlisted, [], [], 0)).toEqual([]);
  expect(unlistedOutgoing(unanswered, [], [], 0)).toEqual([]); // discarded elsewhere
});

test("an invalid stored draft is ignored", () => {
  fc.assert(
    fc.property(fc.oneof(fc.string(), fc.json()), (text) => void expect(parseDraft(text)).toHaveProperty("text")),
  );
  expect(parseDraft('{"text":"a","files":[{"path":"x"},{"path":"y","size":1,"kind":"file"}]}').files).toHaveLength(1);
});

test("only existing workspace files become references", async () => {
  const items = [
    { path: "src", is_folder: true },
    { path: "src/app.py", is_folder: false },
  ];
  const api = (async () => ({ items, is_cut: false })) as unknown as Api;
  const text = "see @src/app.py:2-4, @src, @nobody and @src/app.py:2-4";
  const references = await existingReferences(api, "c", text);
  expect(payloadsOfDraft(text, references, [{ path: "uploads/a.png", size: 1, kind: "image" }])).toEqual([
    { type: "text", content: text },
    { type: "file_reference", path: "src/app.py", range: { start_line: 2, end_line: 4 } },
    { type: "image", path: "uploads/a.png" },
  ]);
  expect(payloadsOfDraft("  ", [], [])).toEqual([]);
});

test("file sizes use units of 1024", () => {
  expect([0, 1023, 1024, 1_500, 20 * 1024 * 1024].map(formatFileSize)).toEqual([
    "0 B",
    "1023 B",
    "1.0 kB",
    "1.5 kB",
    "20 MB",
  ]);
});

test("text and attachments added while a message is being sent stay in the draft", () => {
  const file = { path: "a.txt", size: 1, kind: "file" } as const;
  const other = { ...file, path: "b.txt" };
  const sent = { text: "first", files: [file] };
  expect(remainingDraft(sent, sent)).toEqual(NO_DRAFT);
  expect(remainingDraft({ text: "first and more", files: [file, other] }, sent)).toEqual({
    text: "and more",
    files: [other],
  });
  expect(remainingDraft({ text: "something else", files: [] }, sent)).toEqual({ text: "something else", files: [] });
});
