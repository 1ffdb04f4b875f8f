/** The words around code, tables and images of an answer. */
import { useMemo } from "react";
import { useLanguage } from "../../app/page";
import { sayWord } from "../../i18n/words";
import { announce } from "../../ui/Announcer";
import type { MarkdownWords } from "./markdown/words";

const WORDS = {
  copy: ["Copy", "复制"],
  copied: ["Copied", "已复制"],
  copyTable: ["Copy the table", "复制表格"],
  wrap: ["Wrap", "换行"],
  download: ["Download", "下载"],
  showAll: ["Show all {n} lines", "显示全部 {n} 行"],
  code: ["Code", "代码"],
  table: ["Table", "表格"],
  image: ["Image", "图片"],
  done: ["Done", "已完成"],
  notDone: ["Not done", "未完成"],
} as const satisfies Record<keyof MarkdownWords, readonly [string, string]>;

/** The same objects as long as the language is the same, so that nothing is drawn again for them. */
export function useMarkdownWords(): { words: MarkdownWords; onCopied: () => void } {
  const language = useLanguage();
  return useMemo(() => {
    const say = (name: keyof typeof WORDS) => sayWord(WORDS[name], language, { n: "{n}" });
    const words = Object.fromEntries(Object.keys(WORDS).map((name) => [name, say(name as keyof typeof WORDS)]));
    return { words: words as unknown as MarkdownWords, onCopied: () => announce(say("copied")) };
  }, [language]);
}
