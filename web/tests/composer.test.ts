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

function shelf(): DraftStorage & { readonly kept: Map<string, string> } {
  const kept = new Map<string, string>();
  return {
    kept,
    read: (key) => kept.get(key) ?? null,
    write: (key, value) => void (value === "" ? kept.delete(key) : kept.set(key, value)),
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

test("Enter sends, with Shift or on glass it begins a line, and held down it does nothing", () => {
  expect(composerActionForKey(pressed("Enter"), BOX)).toBe("send");
  expect(composerActionForKey(pressed("Enter", { shiftKey: true }), BOX)).toBeNull();
  expect(composerActionForKey(pressed("Enter"), { ...BOX, isTouch: true })).toBeNull();
  expect(composerActionForKey(pressed("Enter", { repeat: true }), BOX)).toBe("nothing");
});

test("where Ctrl+Enter sends, Enter begins a line; with an empty box it is left to a call that waits", () => {
  const box: ComposerState = { ...BOX, sendKeys: "mod-enter" };
  expect(composerActionForKey(pressed("Enter"), box)).toBeNull();
  expect(composerActionForKey(pressed("Enter", { ctrlKey: true }), box)).toBe("send");
  expect(composerActionForKey(pressed("Enter", { metaKey: true }), box)).toBe("send");
  expect(composerActionForKey(pressed("Enter", { ctrlKey: true, shiftKey: true }), box)).toBeNull();
  expect(composerActionForKey(pressed("Enter", { ctrlKey: true }), { ...box, isEmpty: true })).toBeNull();
  expect(composerActionForKey(pressed("Enter"), { ...box, suggestionCount: 2 })).toBe("list_choose");
});

test("while a character is composed no key does anything, whatever is open", () => {
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

test("Esc closes the list first, stops a turn that runs, and leaves alone what somebody else has handled", () => {
  const running = { ...BOX, isRunning: true };
  expect(composerActionForKey(pressed("Escape"), { ...running, suggestionCount: 0 })).toBe("list_close");
  expect(composerActionForKey(pressed("Escape"), running)).toBe("stop");
  expect(composerActionForKey(pressed("Escape", { defaultPrevented: true }), running)).toBeNull();
  expect(composerActionForKey(pressed("Escape"), BOX)).toBeNull();
});

test("an open list takes its keys only while it offers something", () => {
  expect(composerActionForKey(pressed("Enter"), { ...BOX, suggestionCount: 2 })).toBe("list_choose");
  expect(composerActionForKey(pressed("Tab"), { ...BOX, suggestionCount: 2 })).toBe("list_choose");
  expect(composerActionForKey(pressed("Enter"), { ...BOX, suggestionCount: 0 })).toBe("send");
  expect(composerActionForKey(pressed("Tab"), BOX)).toBeNull();
});

test("the last message is edited only from an empty box", () => {
  expect(composerActionForKey(pressed("ArrowUp"), { ...BOX, isEmpty: true })).toBe("edit_last");
  expect(composerActionForKey(pressed("ArrowUp"), BOX)).toBeNull();
});

test("a draft is there again after a reload, for its own conversation", () => {
  fc.assert(
    fc.property(draft, draft, (one, other) => {
      const place = shelf();
      const before = createDrafts(place);
      before.write("a", one);
      before.write(null, other);
      const after = createDrafts(place);
      expect(after.read("a")).toEqual(one);
      expect(after.read(null)).toEqual(other);
      expect(after.read("b")).toEqual(NO_DRAFT);
    }),
  );
});

test("what was written before a conversation began goes along with it, and nothing is left behind", () => {
  const place = shelf();
  const drafts = createDrafts(place);
  drafts.write(null, { text: "hello" });
  drafts.contextCreated("a");
  expect(drafts.read("a").text).toBe("hello");
  drafts.append("a", { text: "more", files: [] });
  expect(drafts.read("a").text).toBe("hello\n\nmore");
  drafts.write("a", NO_DRAFT);
  expect([...place.kept]).toEqual([]);
});

test("what another page has sent or written is no longer, or also, a draft here", () => {
  const place = shelf();
  const [here, there] = [createDrafts(place), createDrafts(place)];
  let told = 0;
  here.subscribe(() => told++);
  expect(here.read("a")).toBe(NO_DRAFT);
  there.write("a", { text: "hello" });
  here.storageChanged("pilothouse-draft-a");
  expect(here.read("a").text).toBe("hello");
  there.write("a", NO_DRAFT);
  here.storageChanged("pilothouse-draft-a");
  here.storageChanged("somebody-else");
  expect(here.read("a")).toEqual(NO_DRAFT);
  expect(told).toBe(2);
});

test("what was sent to the queue is seen from then on until it is listed there, or taken out of it", () => {
  const sent: Outgoing = {
    key: "k",
    command: { kind: "send", id: "c", body: { queue: true } },
    messageId: null,
    acknowledged: null,
    problem: null,
  };
  const taken = { ...sent, messageId: "m", acknowledged: 3 };
  const unanswered = unlistedOutgoing([], [sent], [], 0);
  const answered = unlistedOutgoing(unanswered, [taken], [], 0);
  const unlisted = unlistedOutgoing(answered, [], [], 1);
  expect([unanswered, answered, unlisted]).toEqual([[sent], [taken], [taken]]);
  expect(unlistedOutgoing(answered, [taken], ["m"], 1)).toEqual([]);
  expect(unlistedOutgoing(unlisted, [], ["m"], 1)).toEqual([]);
  expect(unlistedOutgoing(unlisted, [], [], 0)).toEqual([]);
  expect(unlistedOutgoing(unanswered, [], [], 0)).toEqual([]); // discarded elsewhere
});

test("what local storage holds and is no draft is no draft", () => {
  fc.assert(
    fc.property(fc.oneof(fc.string(), fc.json()), (text) => void expect(parseDraft(text)).toHaveProperty("text")),
  );
  expect(parseDraft('{"text":"a","files":[{"path":"x"},{"path":"y","size":1,"kind":"file"}]}').files).toHaveLength(1);
});

test("only what is a file of the workspace becomes a reference, the rest stays text", async () => {
  const items = [
    { path: "src", is_folder: true },
    { path: "src/app.py", is_folder: false },
  ];
  const api = (async () => ({ items, is_cut: false })) as unknown as Api;
  const text = "see @src/app.py:2-4, @src, @nobody and @src/app.py:2-4";
  const found = await existingReferences(api, "c", text);
  expect(payloadsOfDraft(text, found, [{ path: "uploads/a.png", size: 1, kind: "image" }])).toEqual([
    { type: "text", content: text },
    { type: "file_reference", path: "src/app.py", range: { start_line: 2, end_line: 4 } },
    { type: "image", path: "uploads/a.png" },
  ]);
  expect(payloadsOfDraft("  ", [], [])).toEqual([]);
});

test("sizes are read in steps of 1024", () => {
  expect([0, 1023, 1024, 1_500, 20 * 1024 * 1024].map(formatFileSize)).toEqual([
    "0 B",
    "1023 B",
    "1.0 kB",
    "1.5 kB",
    "20 MB",
  ]);
});

test("what is written and attached while a message is being sent stays in the box", () => {
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
