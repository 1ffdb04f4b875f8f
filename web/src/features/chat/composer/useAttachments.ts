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
  onLongText: { attached(text: string): void; failed(text: string): void },
): Attachments {
  const { sendFile, environment } = useAppServices();
  const [isDraggedOver, setDraggedOver] = useState(false);
  const attach = async (files: readonly File[]) => {
    const context = await ensureContext();
    if (context === null) return false;
    for (const file of files) uploads.start(sendFile, environment.newId(), context, await readFile(file));
    return true;
  };
  const latest = useRef(attach);
  latest.current = attach;

  useEffect(() => {
    const onDragOver = (event: DragEvent) => {
      if (event.dataTransfer?.types.includes("Files") !== true) return;
      event.preventDefault();
      event.dataTransfer.dropEffect = "copy";
      setDraggedOver(true);
    };
    const onDragLeave = (event: DragEvent) => event.relatedTarget === null && setDraggedOver(false);
    const onDrop = (event: DragEvent) => {
      setDraggedOver(false);
      if (event.dataTransfer?.types.includes("Files") !== true) return;
      event.preventDefault();
      void latest.current([...event.dataTransfer.files]);
    };
    window.addEventListener("dragover", onDragOver);
    window.addEventListener("dragleave", onDragLeave);
    window.addEventListener("drop", onDrop);
    return () => {
      window.removeEventListener("dragover", onDragOver);
      window.removeEventListener("dragleave", onDragLeave);
      window.removeEventListener("drop", onDrop);
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
          isDone ? onLongText.attached(text) : onLongText.failed(text),
        );
      } else if (text === "" && files.length > 0) {
        event.preventDefault();
        void attach(files);
      }
    },
  };
}
