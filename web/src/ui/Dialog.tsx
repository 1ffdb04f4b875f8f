/** A dialog: the browser's own, which keeps the focus inside, closes with Esc and gives the focus back. */
import { type ReactNode, useEffect, useId, useRef } from "react";
import { useWords } from "../i18n/words";
import { IconButton } from "./Button";
import { ForeignText } from "./ForeignText";
import "./dialog.css";

const WORDS = { close: ["Close", "关闭"] } as const;

/** Where the focus goes: into what the dialog is about, not onto the sign that closes it. */
const FIRST = ":is(.dialog-body, .dialog-foot) :is(input, select, textarea, button, a[href]):not(:disabled)";

interface Given {
  title: string;
  onClose(): void;
  children: ReactNode;
  /** Buttons at its foot: they never scroll away. */
  foot?: ReactNode;
  isWide?: boolean;
}

export function Dialog({ title, onClose, children, foot, isWide = false }: Given) {
  const t = useWords(WORDS);
  const element = useRef<HTMLDialogElement>(null);
  const id = useId();
  useEffect(() => {
    const dialog = element.current;
    dialog?.showModal();
    dialog?.querySelector<HTMLElement>(FIRST)?.focus();
    return () => dialog?.close();
  }, []);
  return (
    <dialog
      ref={element}
      className={isWide ? "dialog wide" : "dialog"}
      aria-labelledby={id}
      onCancel={(event) => {
        event.preventDefault();
        onClose();
      }}
      onKeyDown={(event) => event.key === "Escape" && event.stopPropagation()}
      onMouseDown={(event) => event.target === element.current && !holdsText(element.current) && onClose()}
    >
      <div className="dialog-frame">
        <header className="dialog-head">
          <h2 id={id}>
            <ForeignText text={title} />
          </h2>
          <IconButton icon="close" label={t("close")} onClick={onClose} />
        </header>
        <div className="dialog-body">{children}</div>
        {foot !== undefined && <footer className="dialog-foot">{foot}</footer>}
      </div>
    </dialog>
  );
}

/** Whether somebody has written something in it, which a click beside it must not throw away. */
function holdsText(dialog: HTMLElement): boolean {
  const fields = dialog.querySelectorAll<HTMLInputElement>(
    "input:is([type=text], [type=url], [type=password]), textarea",
  );
  return [...fields].some((field) => field.value !== "");
}
