/** A button that shows something more about what it says. Esc or going elsewhere closes it. */
import { type ReactNode, useId } from "react";
import type { Place } from "./beside";
import { useBeside } from "./useBeside";
import "./menu.css";

interface Given {
  label: string;
  button: ReactNode;
  buttonClass: string;
  place?: Place;
  children: ReactNode;
}

export function Popover({ label, button, buttonClass, place = "below", children }: Given) {
  const { isOpen, setOpen, close, frame, opener, opened } = useBeside(place);
  const id = useId();
  return (
    <div
      className="menu"
      ref={frame}
      onKeyDown={(event) => {
        if (event.key !== "Escape" || !isOpen) return;
        event.stopPropagation();
        close();
      }}
    >
      <button
        ref={opener}
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
        <div className="beside popover" popover="manual" ref={opened} id={id} role="group" aria-label={label}>
          {children}
        </div>
      )}
    </div>
  );
}
