/** What one could say first: what fits the mode, and of the demo only what it understands. */

type Example = readonly [en: string, zh: string];

const DEMO: readonly Example[] = [
  ["list", "列出"],
  ["write notes.txt: hello", "写入 notes.txt: 你好"],
  ["run date", "运行 date"],
  ["work in 4 steps", "分4步"],
];
const DEMO_READING: readonly Example[] = [
  ["list", "列出"],
  ["read README.md", "读取 README.md"],
  ["ask me", "问我"],
  ["write notes.txt: hello", "写入 notes.txt: 你好"],
];
const DEMO_TALKING: readonly Example[] = [
  ["What can you do?", "你能做什么？"],
  ["list", "列出"],
];
const WORKING: readonly Example[] = [
  ["Explain what this project does and how it is built.", "说明这个项目的作用和结构。"],
  ["Find the TODOs in this folder and fix the easiest one.", "找出此文件夹中的 TODO，并修复最简单的一个。"],
  ["Run the tests and tell me why they fail.", "运行测试，并告诉我失败的原因。"],
  ["Write a README for this folder.", "为此文件夹写一份 README。"],
];
const READING: readonly Example[] = [
  ["Explain what this project does and how it is built.", "说明这个项目的作用和结构。"],
  ["Review the latest changes and tell me what worries you.", "审查最近的改动，并指出值得担心的地方。"],
  ["Plan how to add tests to this folder, step by step.", "逐步规划如何为此文件夹添加测试。"],
  ["Where is the riskiest code here, and why?", "这里风险最高的代码在哪里？为什么？"],
];
const TALKING: readonly Example[] = [
  ["Explain a race condition with a small example.", "用一个小例子解释竞态条件。"],
  ["Compare two ways of storing settings: a file or a database.", "比较两种保存设置的方式：文件还是数据库。"],
  ["What makes a good commit message?", "好的提交说明应该是什么样的？"],
  ["Help me to think through a name for a project.", "帮我想一个项目名称。"],
];

export function examplesFor(mode: string | null, isDemo: boolean): readonly Example[] {
  if (mode === "ask") return isDemo ? DEMO_TALKING : TALKING;
  if (mode === "plan" || mode === "review") return isDemo ? DEMO_READING : READING;
  return isDemo ? DEMO : WORKING;
}
