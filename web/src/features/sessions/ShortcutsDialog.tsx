/** Every shortcut of the page, in groups. */
import { useCell } from "../../app/cell";
import { useLanguage } from "../../app/page";
import { type Shortcut, SHORTCUTS, keysOf, keysShown } from "../../app/shortcuts";
import { sayWord, useWords } from "../../i18n/words";
import { Dialog } from "../../ui/Dialog";
import { type SendKeys, sendKeys } from "../chat/composer/keys";
import "./shortcuts.css";

const WORDS = {
  title: ["Shortcuts", "快捷键"],
  page: ["The page", "页面"],
  tabs: ["Conversations", "对话"],
  writing: ["Writing", "输入"],
  calls: ["A call that waits (with the focus on it)", "等待中的调用（焦点在其上时）"],
  send: ["Send; with the preference, this makes a new line", "发送；按偏好设置可改为换行"],
  line: ["New line", "换行"],
  approve: ["Approve; does nothing for a dangerous call", "批准；对危险调用无效"],
  reject: ["Reject", "拒绝"],
  leave: ["Back to the message box; decides nothing", "返回输入框，不做决定"],
  approveOnce: ["Approve", "批准"],
  approveFor: ["Approve for this conversation", "在此对话中批准"],
  rejectKey: ["Reject", "拒绝"],
  reason: ["Reject with a reason", "拒绝并说明原因"],
  approveAll: ["Approve all", "全部批准"],
  rejectAll: ["Reject all", "全部拒绝"],
  off: ["Single keys can be switched off in the preferences.", "单键快捷键可在偏好设置中关闭。"],
} as const;

type Row = Shortcut | readonly [keys: string, word: keyof typeof WORDS];

const GROUPS: readonly (readonly [keyof typeof WORDS, readonly Row[]])[] = [
  ["page", ["sidebar.toggle", "mode.next", "help.open"]],
  ["tabs", ["context.new", "tab.close", "tab.reopen", "tab.go", "tab.move"]],
  ["writing", ["composer.focus", ["send", "send"], ["line", "line"], "answer.copy", "code.copy"]],
  [
    "calls",
    [
      "approval.focus",
      "approval.enlarge",
      ["Enter", "approve"],
      [keysShown("Mod+Backspace"), "reject"],
      ["Esc", "leave"],
      ["1", "approveOnce"],
      ["2", "approveFor"],
      ["3", "rejectKey"],
      ["4 / R", "reason"],
      ["Shift+Enter", "approveAll"],
      [keysShown("Mod+Shift+Backspace"), "rejectAll"],
    ],
  ],
];

/** One that no group names is shown all the same. */
const NAMED = new Set<string>(GROUPS.flatMap(([, rows]) => rows.filter((row) => typeof row === "string")));
const OTHERS = Object.keys(SHORTCUTS).filter((name): name is Shortcut => !NAMED.has(name));

/** What sends, and what begins a line, is the person's choice. */
const WRITING: Readonly<Record<SendKeys, Readonly<Record<string, string>>>> = {
  enter: { send: "Enter", line: "Shift+Enter" },
  "mod-enter": { send: keysShown("Mod+Enter"), line: "Enter" },
};

export function ShortcutsDialog({ onClose }: { onClose(): void }) {
  const t = useWords(WORDS);
  const language = useLanguage();
  const writing = WRITING[useCell(sendKeys)];
  return (
    <Dialog title={t("title")} onClose={onClose} isWide>
      <div className="shortcuts" tabIndex={0} role="group" aria-label={t("title")}>
        {GROUPS.map(([name, rows]) => (
          <section key={name}>
            <h3>{t(name)}</h3>
            <dl>
              {(name === "page" ? [...rows, ...OTHERS] : rows).map((row) => {
                const [keys, words] =
                  typeof row === "string"
                    ? [keysOf(row), sayWord(SHORTCUTS[row].words, language)]
                    : [writing[row[0]] ?? row[0], t(row[1])];
                return (
                  <div key={keys}>
                    <dt>{words}</dt>
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
