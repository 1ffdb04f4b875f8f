/** A button that opens a popover with details. Esc, or focus or click elsewhere, closes it. */
import { type ReactNode, useId } from "react";
import type { PopoverPlacement } from "./popoverPlacement";
import { usePopover } from "./usePopover";
import "./menu.css";

interface Props {
  label: string;
  button: ReactNode;
  buttonClass: string;
  placement?: PopoverPlacement;
  children: ReactNode;
}

export function Popover({ label, button, buttonClass, placement = "below", children }: Props) {
  const { isOpen, setOpen, close, container, trigger, popover } = usePopover(placement);
  const id = useId();
  return (
    <div
      className="menu"
      ref={container}
      onKeyDown={(event) => {
        if (event.key !== "Escape" || !isOpen) return;
        event.stopPropagation();
        close();
      }}
    >
      <button
        ref={trigger}
        type="button"
        className={buttonClass}
        aria-label={label}
        title={label}
        aria-expanded={isOpen}
        aria-controls={isOpen ? id : undefined}
        onClick={() => setOpen(!isOpen)}
      >
        {button}
      </button>
      {isOpen && (
        <div className="beside popover" popover="manual" ref={popover} id={id} role="group" aria-label={label}>
          {children}
        </div>
      )}
    </div>
  );
}
