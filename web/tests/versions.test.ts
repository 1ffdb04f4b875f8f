import fc from "fast-check";
import { expect, test } from "vitest";
import type { BranchView } from "../src/api/schema";
import { versionsByRow, versionsOf } from "../src/features/branches/versions";

/** A context view with branches: lists of ids, and the fork of each from the active branch. */
function contextOf(active: string, lists: { readonly [name: string]: readonly string[] }) {
  const here = lists[active] ?? [];
  const branches = Object.fromEntries(
    Object.entries(lists).map(([name, ids], age): [string, BranchView] => {
      const position = here.findIndex((id, index) => ids[index] !== id);
      const [message_id, sibling_id] = [here[position], ids[position]];
      const fork = message_id === undefined || sibling_id === undefined ? null : { position, message_id, sibling_id };
      const created_at = `2026-01-${String(age + 10)}T00:00:00Z`;
      return [name, { name, key: name, created_at, length: ids.length, fork }];
    }),
  );
  return { active_branch: active, branches };
}

const EDITED = { main: ["a", "b", "c", "d"], second: ["a", "b", "x"], third: ["a", "b", "y", "z"] };

test("edited messages lead to their previous version and back", () => {
  const all = [
    { branch: "main", messageId: "c" },
    { branch: "second", messageId: "x" },
    { branch: "third", messageId: "y" },
  ];
  expect(versionsOf(contextOf("main", EDITED))).toEqual([{ messageId: "c", all, currentIndex: 0 }]);
  expect(versionsOf(contextOf("second", EDITED))).toEqual([{ messageId: "x", all, currentIndex: 1 }]);
  expect(versionsOf(contextOf("third", EDITED))).toEqual([{ messageId: "y", all, currentIndex: 2 }]);
});

test("a branch of a branch has versions at both forks, and each message is one version", () => {
  const lists = { ...EDITED, deep: ["a", "b", "y", "w"] };
  expect(versionsOf(contextOf("deep", lists))).toEqual([
    {
      messageId: "y",
      all: [
        { branch: "main", messageId: "c" },
        { branch: "second", messageId: "x" },
        { branch: "deep", messageId: "y" },
      ],
      currentIndex: 2,
    },
    {
      messageId: "w",
      all: [
        { branch: "third", messageId: "z" },
        { branch: "deep", messageId: "w" },
      ],
      currentIndex: 1,
    },
  ]);
  expect(versionsOf(contextOf("main", lists))[0]?.all.map(({ branch }) => branch)).toEqual(["main", "second", "deep"]);
});

test("a single or merely continued branch has no versions", () => {
  expect(versionsOf(contextOf("main", { main: ["a", "b"] }))).toEqual([]);
  expect(versionsOf(contextOf("main", { main: ["a", "b"], longer: ["a", "b", "c"] }))).toEqual([]);
});

test("for any forks, the active version is listed, and no branch is lost", () => {
  const forks = fc.array(fc.record({ from: fc.nat(), at: fc.nat(), more: fc.integer({ min: 1, max: 3 }) }), {
    minLength: 1,
    maxLength: 8,
  });
  fc.assert(
    fc.property(forks, fc.nat(), (branches, chosen) => {
      const lists: Record<string, string[]> = { b0: ["m0", "m1", "m2", "m3"] };
      branches.forEach(({ from, at, more }, number) => {
        const source = lists[`b${from % (number + 1)}`]!;
        const prefix = source.slice(0, at % source.length);
        lists[`b${number + 1}`] = [...prefix, ...Array.from({ length: more }, (_, index) => `n${number}.${index}`)];
      });
      const active = `b${chosen % (branches.length + 1)}`;
      const places = versionsOf(contextOf(active, lists));
      for (const { messageId, all, currentIndex } of places) {
        expect(all.length).toBeGreaterThan(1);
        expect(all[currentIndex]).toEqual({ branch: active, messageId });
        expect(new Set(all.map((each) => each.messageId)).size).toBe(all.length);
        for (const version of all) expect(lists[version.branch]).toContain(version.messageId);
      }
      const reached = places.flatMap(({ all }) => all.map(({ messageId }) => messageId));
      for (const ids of Object.values(lists)) expect(reached.some((id) => ids.includes(id))).toBe(true);
    }),
  );
});

test("versions are shown at the row of their message, or at the row after a notice", () => {
  const place = (messageId: string) => ({ messageId, all: [], currentIndex: 0 });
  const lines = [
    { id: "a", kind: "user", messages: [{ message_id: "a" }, { message_id: "file" }] },
    { id: "switch", kind: "notice" },
    { id: "b", kind: "user", messages: [{ message_id: "b" }] },
    { id: "end", kind: "notice" },
  ];
  const rowVersions = versionsByRow(lines, [place("file"), place("switch"), place("end"), place("not loaded")]);
  expect([...rowVersions.keys()]).toEqual(["a", "b", "end"]);
});
