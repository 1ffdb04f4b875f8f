/** Files that somebody gives to the conversation: chosen, dropped anywhere on the page, pasted; also a very long text. */
import { type ClipboardEvent, useEffect, useRef, useState } from "react";
import { usePage } from "../../../app/page";
import { named, uploads } from "./uploads";

/** A longer text is no message any more; as a file it is read as far as it is needed. */
const PASTED_AT_MOST = 20_000;
const PASTED_NAME = "pasted.txt";

interface Attaching {
  /** Whether there is a conversation to attach them to. */
  attach(files: readonly File[]): Promise<boolean>;
  /** Something is being held over the page. */
  readonly isOver: boolean;
  onPaste(event: ClipboardEvent): void;
}

/** `ensure` gives null where there is no conversation and none could be made; it says so itself. A long text is told of. */
export function useAttaching(
  ensure: () => Promise<string | null>,
  longText: { attached(text: string): void; not(text: string): void },
): Attaching {
  const { sendFile, ambient } = usePage();
  const [isOver, setOver] = useState(false);
  const attach = async (files: readonly File[]) => {
    const context = await ensure();
    if (context === null) return false;
    for (const file of files) uploads.start(sendFile, ambient.newId(), context, await named(file));
    return true;
  };
  const latest = useRef(attach);
  latest.current = attach;

  useEffect(() => {
    const over = (event: DragEvent) => {
      if (event.dataTransfer?.types.includes("Files") !== true) return;
      event.preventDefault();
      event.dataTransfer.dropEffect = "copy";
      setOver(true);
    };
    const leave = (event: DragEvent) => event.relatedTarget === null && setOver(false);
    const drop = (event: DragEvent) => {
      setOver(false);
      if (event.dataTransfer?.types.includes("Files") !== true) return;
      event.preventDefault();
      void latest.current([...event.dataTransfer.files]);
    };
    window.addEventListener("dragover", over);
    window.addEventListener("dragleave", leave);
    window.addEventListener("drop", drop);
    return () => {
      window.removeEventListener("dragover", over);
      window.removeEventListener("dragleave", leave);
      window.removeEventListener("drop", drop);
    };
  }, []);

  return {
    attach,
    isOver,
    onPaste(event) {
      const text = event.clipboardData.getData("text/plain");
      const files = [...event.clipboardData.files];
      if (text.length > PASTED_AT_MOST) {
        event.preventDefault();
        void attach([new File([text], PASTED_NAME, { type: "text/plain" })]).then((isDone) =>
          isDone ? longText.attached(text) : longText.not(text),
        );
      } else if (text === "" && files.length > 0) {
        event.preventDefault();
        void attach(files);
      }
    },
  };
}
