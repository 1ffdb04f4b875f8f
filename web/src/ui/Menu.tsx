/**
 * A button that opens a menu. Arrow keys, Home, End, digits and first letters select an item; Esc closes the menu and
 * restores the focus.
 */
import { type KeyboardEvent, type ReactNode, useEffect, useId } from "react";
import type { PopoverPlacement } from "./popoverPlacement";
import { usePopover } from "./usePopover";
import { ForeignText } from "./ForeignText";
import "./menu.css";

export interface MenuEntry {
  readonly key: string;
  readonly label: string;
  readonly note?: string;
  readonly icon?: ReactNode;
  readonly isDangerous?: boolean;
  /** Whether this is the current choice, for a group of alternatives. */
  readonly isSelected?: boolean;
  readonly shortcut?: string;
  /** A heading above the entry: the first of its group. */
  readonly group?: string;
  onSelect(): void;
}

interface Props {
  label: string;
  button: ReactNode;
  buttonClass?: string;
  entries: readonly MenuEntry[];
  /** The position relative to the button. */
  placement?: PopoverPlacement;
  title?: string;
  shortcut?: string;
  /** A description above the entries. */
  header?: ReactNode;
}

export function Menu({
  label,
  button,
  buttonClass = "button quiet icon",
  entries,
  placement = "below",
  title,
  shortcut,
  header,
}: Props) {
  const { isOpen, setOpen, close, container, trigger, popover } = usePopover(placement);
  const id = useId();

  useEffect(() => {
    if (!isOpen) return;
    const items = itemsOf(container.current);
    (items.find((item) => item.getAttribute("aria-checked") === "true") ?? items[0])?.focus();
  }, [isOpen, container]);

  function onKeyDown(event: KeyboardEvent): void {
    if (event.nativeEvent.isComposing || !isOpen) return;
    if (event.key === "Escape" || event.key === "Tab") {
      if (event.key === "Escape") event.stopPropagation();
      event.preventDefault();
      return close();
    }
    const items = itemsOf(container.current);
    const next = nextIndex(
      event.key,
      items,
      items.findIndex((item) => item === document.activeElement),
    );
    if (next === null) return;
    event.preventDefault();
    event.stopPropagation();
    items[next]?.focus();
  }

  return (
    <div className="menu" ref={container} onKeyDown={onKeyDown}>
      <button
        ref={trigger}
        type="button"
        className={buttonClass}
        aria-label={label}
        title={title ?? label}
        aria-haspopup="menu"
        aria-expanded={isOpen}
        aria-controls={isOpen ? id : undefined}
        aria-keyshortcuts={shortcut}
        onClick={() => setOpen(!isOpen)}
        onKeyDown={(event) => {
          if (isOpen || (event.key !== "ArrowDown" && event.key !== "ArrowUp")) return;
          event.preventDefault();
          setOpen(true);
        }}
      >
        {button}
      </button>
      {isOpen && (
        <div className="menu-list beside" popover="manual" ref={popover} role="menu" id={id} aria-label={label}>
          {header !== undefined && <div className="menu-head">{header}</div>}
          {entries.map((entry) => [
            entry.group !== undefined && (
              <div key={`${entry.key} group`} className="menu-group">
                {entry.group}
              </div>
            ),
            <button
              key={entry.key}
              type="button"
              tabIndex={-1}
              role={entry.isSelected === undefined ? "menuitem" : "menuitemradio"}
              aria-checked={entry.isSelected}
              className={entry.isDangerous === true ? "menu-item danger" : "menu-item"}
              onClick={() => {
                close();
                entry.onSelect();
              }}
            >
              {entry.icon !== undefined && <span className="menu-icon">{entry.icon}</span>}
              <span className="menu-words">
                <span className="menu-label">
                  <ForeignText text={entry.label} />
                </span>
                {entry.note !== undefined && (
                  <span className="menu-note">
                    <ForeignText text={entry.note} />
                  </span>
                )}
              </span>
              {entry.shortcut !== undefined && <kbd className="kbd">{entry.shortcut}</kbd>}
            </button>,
          ])}
        </div>
      )}
    </div>
  );
}

function itemsOf(container: HTMLElement | null): HTMLElement[] {
  return [...(container?.querySelectorAll<HTMLElement>('[role^="menuitem"]') ?? [])];
}

/** The index of the item that a key selects; null for other keys. */
function nextIndex(key: string, items: readonly HTMLElement[], current: number): number | null {
  const count = items.length;
  if (key === "ArrowDown") return (current + 1) % count;
  if (key === "ArrowUp") return (current - 1 + count) % count;
  if (key === "Home") return 0;
  if (key === "End") return count - 1;
  if (/^[1-9]$/.test(key) && Number(key) <= count) return Number(key) - 1;
  if (key.length !== 1 || key === " ") return null;
  const order = items.map((_, index) => (current + 1 + index) % count);
  return order.find((index) => items[index]?.textContent?.toLowerCase().startsWith(key.toLowerCase())) ?? null;
}
