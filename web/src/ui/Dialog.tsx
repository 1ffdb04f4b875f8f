/** A modal dialog, based on `<dialog>`: the browser traps the focus, closes it with Esc and restores the focus. */
import { type ReactNode, useEffect, useId, useRef } from "react";
import { useTexts } from "../i18n/texts";
import { IconButton } from "./Button";
import { ForeignText } from "./ForeignText";
import "./dialog.css";

/** The initial focus: the first control of the content, not the close button. */
const FIRST_FOCUSABLE = ":is(.dialog-body, .dialog-foot) :is(input, select, textarea, button, a[href]):not(:disabled)";

interface Props {
  title: string;
  onClose(): void;
  children: ReactNode;
  /** Buttons in a footer that does not scroll. */
  footer?: ReactNode;
  isWide?: boolean;
}

export function Dialog({ title, onClose, children, footer, isWide = false }: Props) {
  const t = useTexts("ui");
  const element = useRef<HTMLDialogElement>(null);
  const id = useId();
  useEffect(() => {
    const dialog = element.current;
    dialog?.showModal();
    dialog?.querySelector<HTMLElement>(FIRST_FOCUSABLE)?.focus();
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
      onMouseDown={(event) => event.target === element.current && !hasUnsavedText(element.current) && onClose()}
    >
      <div className="dialog-frame">
        <header className="dialog-head">
          <h2 id={id}>
            <ForeignText text={title} />
          </h2>
          <IconButton icon="close" label={t("close")} onClick={onClose} />
        </header>
        <div className="dialog-body">{children}</div>
        {footer !== undefined && <footer className="dialog-foot">{footer}</footer>}
      </div>
    </dialog>
  );
}

/** Whether a text field has content, which a click on the backdrop must not discard. */
function hasUnsavedText(dialog: HTMLElement): boolean {
  const fields = dialog.querySelectorAll<HTMLInputElement>(
    "input:is([type=text], [type=url], [type=password]), textarea",
  );
  return [...fields].some((field) => field.value !== "");
}
