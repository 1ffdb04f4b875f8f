/** Lists all shortcuts in groups. */
import { useAtom } from "../../app/atom";
import { type Shortcut, SHORTCUTS, keysOf, formatKeys } from "../../app/shortcuts";
import { type TextName, useTexts } from "../../i18n/texts";
import { Dialog } from "../../ui/Dialog";
import { type SendKeys, sendKeysAtom } from "../chat/composer/composerKeys";
import "./shortcuts.css";

type Row = Shortcut | readonly [keys: string, word: TextName<"shortcutsDialog">];

const GROUPS: readonly (readonly [TextName<"shortcutsDialog">, readonly Row[]])[] = [
  ["page", ["sidebar.toggle", "mode.next", "help.open"]],
  ["tabs", ["context.new", "tab.close", "tab.reopen", "tab.go", "tab.move"]],
  ["writing", ["composer.focus", ["send", "send"], ["line", "line"], "answer.copy", "code.copy"]],
  [
    "calls",
    [
      "approval.focus",
      "approval.enlarge",
      ["Enter", "approve"],
      [formatKeys("Mod+Backspace"), "reject"],
      ["Esc", "leave"],
      ["1", "approveOnce"],
      ["2", "approveFor"],
      ["3", "rejectKey"],
      ["4 / R", "reason"],
      ["Shift+Enter", "approveAll"],
      [formatKeys("Mod+Shift+Backspace"), "rejectAll"],
    ],
  ],
];

/** Shortcuts that belong to no group are listed as well. */
const GROUPED = new Set<string>(GROUPS.flatMap(([, rows]) => rows.filter((row) => typeof row === "string")));
const UNGROUPED = Object.keys(SHORTCUTS).filter((name): name is Shortcut => !GROUPED.has(name));

/** The keys that send and that insert a line break, depending on the preference. */
const SEND_KEYS: Readonly<Record<SendKeys, Readonly<Record<string, string>>>> = {
  enter: { send: "Enter", line: "Shift+Enter" },
  "mod-enter": { send: formatKeys("Mod+Enter"), line: "Enter" },
};

export function ShortcutsDialog({ onClose }: { onClose(): void }) {
  const t = useTexts("shortcutsDialog");
  const nameOf = useTexts("shortcuts");
  const sendKeyTexts = SEND_KEYS[useAtom(sendKeysAtom)];
  return (
    <Dialog title={t("title")} onClose={onClose} isWide>
      <div className="shortcuts" tabIndex={0} role="group" aria-label={t("title")}>
        {GROUPS.map(([name, rows]) => (
          <section key={name}>
            <h3>{t(name)}</h3>
            <dl>
              {(name === "page" ? [...rows, ...UNGROUPED] : rows).map((row) => {
                const [keys, label] =
                  typeof row === "string" ? [keysOf(row), nameOf(row)] : [sendKeyTexts[row[0]] ?? row[0], t(row[1])];
                return (
                  <div key={keys}>
                    <dt>{label}</dt>
                    <dd>
                      <kbd className="kbd">{keys}</kbd>
                    </dd>
                  </div>
                );
              })}
            </dl>
            {name === "calls" && <p className="soft small">{t("off")}</p>}
          </section>
        ))}
      </div>
    </Dialog>
  );
}
