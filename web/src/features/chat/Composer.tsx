/** The box in which a person writes. */
import { type KeyboardEvent, useEffect, useRef, useState } from "react";
import { usePage, useSlice } from "../../app/page";
import { isComposing, useShortcut } from "../../app/shortcuts";
import { useWords } from "../../i18n/words";
import { canSend, isConnected } from "../../store/selectors";
import { IconButton } from "../../ui/Button";
import { ElevationChip } from "../modes/ElevationChip";
import { ModeSelector, useMode } from "../modes/ModeSelector";
import { ModelMenu } from "../sessions/ModelMenu";
import { TokenChip } from "../window/TokenChip";
import { drafts } from "./drafts";
import "./composer.css";

const WORDS = {
  box: ["Message", "消息"],
  placeholder: ["Write a message… @ for files", "输入消息…… @ 引用文件"],
  send: ["Send (Enter)", "发送（回车）"],
  queue: ["Send after this turn (Enter)", "本轮结束后发送（回车）"],
  offline: ["There is no connection", "没有连接"],
  empty: ["Write something first", "请先输入内容"],
} as const;

export function Composer({ id }: { id: string | null }) {
  const t = useWords(WORDS);
  const { act, api } = usePage();
  const [text, setText] = useState(() => drafts.read(id));
  const { mode } = useMode(id);
  const how = useSlice((state) => (id === null ? (isConnected(state) ? "now" : "no") : canSend(state, id)), [id]);
  const box = useRef<HTMLTextAreaElement>(null);
  useShortcut("composer.focus", () => box.current?.focus());
  useEffect(() => setText(drafts.read(id)), [id]);
  const change = (value: string) => {
    setText(value);
    drafts.write(id, value);
  };

  const whyNot = how === "no" ? t("offline") : text.trim() === "" ? t("empty") : null;
  const send = async () => {
    if (whyNot !== null) return;
    const payloads = [{ type: "text", content: text } as const];
    change("");
    if (id !== null) return act({ kind: "send", id, body: { payloads, mode, queue: how === "later" } });
    const made = await api("POST /api/contexts", { body: { mode } });
    act({ kind: "activate", id: made.context_id });
    return act({ kind: "send", id: made.context_id, body: { payloads } });
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (isComposing(event.nativeEvent)) return;
    if (event.key !== "Enter" || event.shiftKey || event.altKey || event.ctrlKey || event.metaKey) return;
    event.preventDefault();
    void send();
  };
  return (
    <form className="composer" data-mode={mode} onSubmit={(event) => (event.preventDefault(), void send())}>
      <textarea
        ref={box}
        rows={1}
        value={text}
        aria-label={t("box")}
        placeholder={t("placeholder")}
        onChange={(event) => change(event.target.value)}
        onKeyDown={onKeyDown}
      />
      <div className="composer-foot">
        <ModeSelector id={id} />
        {id !== null && <ElevationChip id={id} />}
        <ModelMenu id={id} />
        {id !== null && <TokenChip id={id} />}
        <IconButton kind="primary" icon="send" extraClass="composer-send" label={t(how === "later" ? "queue" : "send")} whyNot={whyNot} onClick={() => void send()} />
      </div>
    </form>
  );
}
