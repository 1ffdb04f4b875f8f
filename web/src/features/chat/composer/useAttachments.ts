/** Attaching files: chosen, dropped anywhere on the page, or pasted; a very long pasted text becomes a file. */
import { type ClipboardEvent, useEffect, useRef, useState } from "react";
import { useAppServices } from "../../../app/appServices";
import { readFile, uploads } from "./uploads";

/** A longer text is attached as a file, of which the model reads only the parts that it needs. */
const MAX_PASTED_CHARACTERS = 20_000;
const PASTED_FILE_NAME = "pasted.txt";

interface Attachments {
  /** Uploads files. Returns false if there is no conversation to attach them to. */
  attach(files: readonly File[]): Promise<boolean>;
  /** Whether files are being dragged over the page. */
  readonly isDraggedOver: boolean;
  onPaste(event: ClipboardEvent): void;
}

/** `ensureContext` returns null, and reports the problem itself, if the conversation could not be created. */
export function useAttachments(
  ensureContext: () => Promise<string | null>,
  longText: { attached(text: string): void; not(text: string): void },
): Attachments {
  const { sendFile, environment } = useAppServices();
  const [isDraggedOver, setOver] = useState(false);
  const attach = async (files: readonly File[]) => {
    const context = await ensureContext();
    if (context === null) return false;
    for (const file of files) uploads.start(sendFile, environment.newId(), context, await readFile(file));
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
    isDraggedOver,
    onPaste(event) {
      const text = event.clipboardData.getData("text/plain");
      const files = [...event.clipboardData.files];
      if (text.length > MAX_PASTED_CHARACTERS) {
        event.preventDefault();
        void attach([new File([text], PASTED_FILE_NAME, { type: "text/plain" })]).then((isDone) =>
          isDone ? longText.attached(text) : longText.not(text),
        );
      } else if (text === "" && files.length > 0) {
        event.preventDefault();
        void attach(files);
      }
    },
  };
}
