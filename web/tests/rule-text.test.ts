import fc from "fast-check";
import { expect, test } from "vitest";
import type { Rule } from "../src/api/schema";
import { groupRuleOffers, originText, ruleText, scopeText, lifetimeText } from "../src/features/rules/ruleText";

const name = fc.stringMatching(/^[a-z]{3,8}$/);
const anyRule = fc
  .record({
    tool: fc.constantFrom("*", "execute", "write_file", "github__merge"),
    kind: fc.constantFrom("exact" as const, "words" as const, "folder" as const, "tool" as const),
    effect: fc.constantFrom("allow" as const, "ask" as const, "deny" as const),
    words: fc.array(name, { minLength: 1, maxLength: 3 }),
    folder: name,
    isHere: fc.boolean(),
    workspace: fc.option(
      name.map((each) => `/w/${each}`),
      { nil: null },
    ),
  })
  .map(({ tool, kind, effect, words, folder, isHere, workspace }): Rule => ({
    id: "r",
    effect,
    scope: {
      tool,
      workspace,
      ...(kind === "exact" ? { fingerprint: "f", arguments: `{"a":"${folder}"}` } : {}),
      ...(kind === "words" ? { words } : {}),
      ...(kind === "folder" ? { folder } : {}),
    },
    lifetime: isHere ? { context: "c" } : {},
    origin: { by: "local", at: "2026-01-01T00:00:00Z" },
  }));

test("the text of a rule names its whole scope in both languages", () => {
  fc.assert(
    fc.property(anyRule, (rule) => {
      for (const language of ["en", "zh"] as const) {
        const words = ruleText(rule, language, "c");
        const { tool = "*", words: leading = [], folder, arguments: argumentText, workspace } = rule.scope;
        if (tool !== "*") expect(words).toContain(tool);
        if (leading.length > 0) expect(words).toContain(leading.join(" "));
        if (folder != null) expect(words).toContain(`${folder}/`);
        if (argumentText != null) expect(words).toContain(argumentText);
        if (workspace != null) expect(words).toContain(workspace);
      }
    }),
  );
});

test("rules that differ in scope, effect or lifetime have different texts", () => {
  const identity = (rule: Rule) => JSON.stringify([rule.effect, rule.scope, rule.lifetime]);
  fc.assert(
    fc.property(anyRule, anyRule, (one, other) => {
      if (identity(one) !== identity(other)) expect(ruleText(one, "en", "c")).not.toBe(ruleText(other, "en", "c"));
    }),
  );
});

test("a rule for commands says that it covers a single command, and quotes words", () => {
  const rule: Rule = {
    id: "r",
    effect: "allow",
    scope: { tool: "execute", words: ["git", "commit -m"] },
    origin: { by: "local" },
  };
  expect(scopeText(rule, "en")).toBe(
    "Run a command (execute), only a single command that starts with “git 'commit -m'”",
  );
  expect(scopeText({ ...rule, effect: "deny" }, "en")).toContain("any command line that contains");
});

test("a rule without an end or a workspace says so", () => {
  const rule: Rule = { id: "r", effect: "deny", scope: { tool: "*" }, origin: { by: "local", file: "rules.toml" } };
  expect(lifetimeText(rule, "en", null)).toBe("permanently, in all projects");
  expect(originText(rule, "en", 0)).toBe("From the file rules.toml");
});

test("rule options keep the server's order in both groups", () => {
  const offer = (scope: "exact" | "tool" | "exact_for_good", context: string | null) => ({
    scope,
    rule: { id: "", effect: "allow", scope: {}, lifetime: { context }, origin: { by: "local" } } as const,
  });
  const { forContext, permanent } = groupRuleOffers([
    offer("exact", "c"),
    offer("tool", "c"),
    offer("exact_for_good", null),
  ]);
  expect(forContext.map(({ scope }) => scope)).toEqual(["exact", "tool"]);
  expect(permanent.map(({ scope }) => scope)).toEqual(["exact_for_good"]);
});

test("a rule shows hidden characters in words, folder and workspace", () => {
  const rule: Rule = {
    id: "r",
    effect: "allow",
    scope: { tool: "execute", words: ["npm\u00a0run", "a\nb"], workspace: "/w/r\u0435po" },
    lifetime: {},
    origin: { by: "lo\u2003cal" },
  };
  for (const language of ["en", "zh"] as const) {
    const words = ruleText(rule, language, "c");
    expect(words).toContain("'npm⟨U+00A0⟩run' 'a⟨U+000A⟩b'");
    expect(words).toContain("/w/r\u0435⟨U+0435⟩po");
    expect(originText(rule, language, 0)).toContain("lo⟨U+2003⟩cal");
    const inFolder = { ...rule, scope: { tool: "write_file", folder: "src\u3000/" } };
    expect(scopeText(inFolder, language)).toContain("src⟨U+3000⟩/");
  }
});

test("an exact rule marks the cut of long arguments once", () => {
  const scopeOf = (text: string) =>
    scopeText({ effect: "allow", scope: { tool: "execute", fingerprint: "f", arguments: text } }, "en");
  expect(scopeOf(`${"a".repeat(200)}… (300 characters)`)).toMatch(/a… \(300 characters\)$/);
  expect(scopeOf(`${"a".repeat(199)} `)).toMatch(/a…$/);
  expect(scopeOf(`${"a".repeat(199)}}`)).toMatch(/a\}$/);
});
