/** The words of the queue. */
export const WORDS = {
  queue: ["Messages that wait", "等待发送的消息"],
  after: ["Sent when this turn has ended", "本轮结束后发送"],
  held: [
    "Held, because the turn did not complete. Sent after the next one, or when you send it now.",
    "因本轮未完成而保留。将在下一轮完成后发送，或由你立即发送。",
  ],
  edit: ["Edit", "编辑"],
  editing: ["Edit the waiting message", "编辑等待中的消息"],
  remove: ["Remove", "移除"],
  save: ["Save", "保存"],
  stopAndSend: ["Stop and send now", "停止并立即发送"],
  sendNow: ["Send now", "立即发送"],
  offline: ["There is no connection", "没有连接"],
  busy: ["One moment", "请稍候"],
  taken: ["It was sent as it was. Your change is in the box.", "它已按原样发送。你的修改在输入框中。"],
} as const;
