/** The sidebar: the list of conversations, and links to the application dialogs. */
import { useEffect, useRef, useState } from "react";
import { useAppServices } from "../../app/appServices";
import { ariaKeysOf, keysOf, useShortcut } from "../../app/shortcuts";
import { useTexts } from "../../i18n/texts";
import { Button, IconButton } from "../../ui/Button";
import { Icon } from "../../ui/icons";
import { ConversationList } from "./ConversationList";
import { SidebarFooter } from "./SidebarFooter";
import "./sidebar.css";

interface Props {
  /** On a narrow screen, whether the drawer is open; null if the sidebar is always visible. */
  isDrawerOpen: boolean | null;
  onToggle(): void;
  onNavigate(): void;
}

export function Sidebar({ isDrawerOpen, onToggle, onNavigate }: Props) {
  const t = useTexts("sidebar");
  const { act } = useAppServices();
  const [isArchive, setArchive] = useState(false);
  const startConversation = () => {
    act({ kind: "activate", id: null });
    onNavigate();
  };
  useShortcut("context.new", startConversation);
  const nav = useDrawer(isDrawerOpen === true, onToggle);
  return (
    <nav className="sidebar" aria-label={t("conversations")} ref={nav} inert={isDrawerOpen === false}>
      <header className="sidebar-head">
        <span className="brand">
          <Icon name="helm" size={22} /> Pilothouse
        </span>
        <IconButton
          icon="sidebar"
          label={t("hide")}
          title={`${t("hide")} (${keysOf("sidebar.toggle")})`}
          onClick={onToggle}
        />
      </header>
      <div className="sidebar-new">
        <Button
          icon="add"
          title={`${t("new")} (${keysOf("context.new")})`}
          aria-keyshortcuts={ariaKeysOf("context.new")}
          onClick={startConversation}
        >
          {t("new")}
        </Button>
        <IconButton
          icon="archive"
          label={t("archived")}
          aria-pressed={isArchive}
          onClick={() => setArchive(!isArchive)}
        />
      </div>
      {isArchive && <h2 className="sidebar-day">{t("archived")}</h2>}
      <ConversationList key={String(isArchive)} isArchive={isArchive} onNavigate={onNavigate} />
      <SidebarFooter onOpened={onNavigate} />
    </nav>
  );
}

/** Focus handling of the drawer: opening moves the focus into it, Esc closes it, closing restores the focus. */
function useDrawer(isOpen: boolean, close: () => void) {
  const nav = useRef<HTMLElement>(null);
  const latest = useRef(close);
  latest.current = close;
  useEffect(() => {
    if (!isOpen) return;
    const before = document.activeElement;
    nav.current?.querySelector<HTMLElement>("button")?.focus();
    const listen = (event: KeyboardEvent) => {
      if (event.key !== "Escape" || event.defaultPrevented || document.querySelector("dialog[open]") !== null) return;
      event.preventDefault();
      latest.current();
    };
    window.addEventListener("keydown", listen);
    return () => {
      window.removeEventListener("keydown", listen);
      if (before instanceof HTMLElement) before.focus();
    };
  }, [isOpen]);
  return nav;
}
