/** The glossary of the texts: one word per concept in each language, and the words that are banned. */
import { expect, test } from "vitest";
import { LANGUAGES } from "../src/i18n/languages";

/** An English term, and its Chinese translations (one of them must occur). */
const GLOSSARY: readonly (readonly [en: RegExp, ...zh: string[]])[] = [
  [/\bapprov(e|es|ing|ed)\b/i, "批准"],
  [/\bapprovals?\b/i, "批准", "审批"],
  [/\breject/i, "拒绝"],
  [/\bfeedback\b/i, "反馈"],
  [/\ballowed for now\b|\ballow more for now\b/i, "临时放行"],
  [/\balways\b/i, "始终"],
  [/\bactions?\b/i, "操作", "次", "此类"],
  [/\bagents?\b(?!.?\bmode)/i, "智能体"],
  [/\bsub-agents?\b/i, "子智能体"],
  [/\bmodes?\b/i, "模式"],
  [/\bpersonas?\b/i, "角色"],
  [/\bmodels?\b/i, "模型"],
  [/\bproviders?\b/i, "服务商"],
  [/\bAPI key\b/i, "API 密钥"],
  [/(?<!-)\bkey\b/, "密钥"],
  [/\bdemo model\b/i, "演示模型"],
  [/\bcontext window\b/i, "上下文窗口"],
  [/\bcompact/i, "压缩"],
  [/\btokens?\b/i, "token"],
  [/\bconversations?\b/i, "对话"],
  [/\bparent conversation\b/i, "上级对话"],
  [/\bmessages?\b/i, "消息", "输入框", "提交说明"],
  [/\bmessage box\b/i, "输入框"],
  [/\bdrafts?\b/i, "草稿"],
  [/\bqueued?\b/i, "排队"],
  [/\bturn\b(?! off)/i, "轮"],
  [/\bafter this turn\b/i, "本轮结束后"],
  [/\bversions? (of|\{)|\bversion$/i, "版本"],
  [/\bbranch(es)?\b/i, "分支"],
  [/\bprojects?\b/i, "项目"],
  [/\bproject settings\b/i, "项目设置"],
  [/\bfolders?\b/i, "文件夹"],
  [/\bfiles?\b/i, "文件", "写入", "附件"],
  [/\brules?\b/i, "规则"],
  [/\brevoke/i, "撤销"],
  [/\brevert/i, "还原"],
  [/\bundo\b/i, "撤销"],
  [/\bretry\b(?! automatically)/i, "重试"],
  [/\bpause\b/i, "暂停"],
  [/\bresume\b|\bcontinue\b/i, "继续"],
  [/\barguments?\b/i, "参数"],
  [/\btools?\b/i, "工具", "操作"],
  [/\bMCP servers?\b/i, "MCP 服务器"],
  [/\bcommands?\b/i, "命令", "指令"],
  [/\bexit code\b/i, "退出代码"],
  [/\bsandbox/i, "沙盒"],
  [/\bprivileges\b/i, "更高权限"],
  [/\boffline\b/i, "离线"],
  [/\bpreferences\b/i, "偏好设置"],
  [/\bshortcuts?\b/i, "快捷键"],
  [/\bsidebar\b/i, "侧边栏"],
  [/\btabs?\b/i, "标签页"],
  [/\bunarchive\b/i, "取消归档"],
  [/^Not now$/, "以后再说"],
  [/^Cancel$/, "取消"],
  [/^Loading…$/, "正在加载…"],
];

/** Banned words; the comment names the replacement. */
const BANNED: Readonly<Record<"en" | "zh", readonly RegExp[]>> = {
  en: [
    /\bcalls?\b/i, // action
    /\bworkspaces?\b/i, // project
    /\brounds?\b/i, // step, turn
    /\brungs?\b|\belevated?:/i,
    /\bcompress/i, // compact
    /\bfor good\b|\ball the same\b|\bby itself\b|\brather not\b/i,
    /\bgo(es)? (on|there|here)\b/i,
    /\b(cannot|was not|is not yours)\b/i, // can't, wasn't
    /\bswitched off\b/i, // disabled, off
    /\btry again now\b/i, // retry
    /\bwaits? for you\b/i, // needs approval
    / %/,
  ],
  zh: [
    /代理/, // 智能体
    /提供方/, // 服务商
    /令牌/, // token
    /调用/, // 操作
    /工作区/, // 项目
    /派出/, // 启动
    /改动|修改/, // 更改、编辑
    /总是/, // 始终
    /暂不/, // 以后再说
    /……/, // …
    /\b(agent|mode|call|local|plan|review|ask|supervised)\b/i,
    /它/, // the thing by its name
    / %/,
  ],
};

const pairs = Object.entries(LANGUAGES.en.texts).flatMap(([section, texts]) =>
  Object.entries(texts).map(([name, en]: [string, string]) => ({
    name: `${section}.${name}`,
    // Users never see the names of parameters.
    en: en.replace(/\{\w+\}/g, "{}"),
    zh: ((LANGUAGES.zh.texts as Record<string, Record<string, string>>)[section]?.[name] ?? "").replace(
      /\{\w+\}/g,
      "{}",
    ),
  })),
);

test("every term has one translation", () => {
  const wrong = pairs.flatMap(({ name, en, zh }) =>
    GLOSSARY.filter(([term, ...chinese]) => term.test(en) && !chinese.some((word) => zh.includes(word))).map(
      ([term]) => `${name}: ${term} is called otherwise in “${zh}” (${en})`,
    ),
  );
  expect(wrong).toEqual([]);
});

test("no text uses a banned word", () => {
  const wrong = pairs.flatMap(({ name, en, zh }) => [
    ...BANNED.en.filter((word) => word.test(en)).map((word) => `${name}: ${word} in “${en}”`),
    ...BANNED.zh.filter((word) => word.test(zh)).map((word) => `${name}: ${word} in “${zh}”`),
  ]);
  expect(wrong).toEqual([]);
});

test("identical English texts have identical Chinese texts", () => {
  const EXCEPT = ["Continue", "Resume"];
  const byText = new Map<string, Set<string>>();
  for (const { en, zh } of pairs) if (!EXCEPT.includes(en)) byText.set(en, (byText.get(en) ?? new Set()).add(zh));
  expect([...byText].filter(([, all]) => all.size > 1).map(([en, all]) => `${en}: ${[...all].join(" / ")}`)).toEqual(
    [],
  );
});
