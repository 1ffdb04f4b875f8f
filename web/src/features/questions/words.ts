/** The words of the questions. */
export const WORDS = {
  title: ["The agent asks you", "智能体有问题问你"],
  one: ["The agent asks: {question} {keys} goes there.", "智能体询问：{question} 按 {keys} 前往。"],
  many: ["The agent asks {n} questions. {keys} goes there.", "智能体提出了 {n} 个问题。按 {keys} 前往。"],
  reach: ["{keys} goes here", "按 {keys} 转到这里"],
  more: ["{n} more {n|form waits|forms wait} behind this one", "后面还有 {n} 份问题"],
  several: ["Several can be chosen", "可多选"],
  own: ["In your own words", "自己填写"],
  answer: ["Answer", "回答"],
  answerField: ["Your answer", "你的回答"],
  decline: ["Decline to answer", "拒绝回答"],
  declined: ["I would rather not answer this.", "我不想回答这个问题。"],
  declining: ["One moment", "请稍候"],
  offline: ["There is no connection", "没有连接"],
  empty: ["Nothing is filled in yet", "还没有填写"],
  open: ["{n} without an answer", "{n} 个尚未回答"],
  gone: ["The question was answered elsewhere or is no longer asked", "问题已在别处回答，或不再需要回答"],
} as const;
