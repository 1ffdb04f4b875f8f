/**
 * The mode selector: a menu of all modes with their meaning. A switch that would start a dangerous or unread call needs
 * confirmation.
 */
import { useEffect, useRef, useState } from "react";
import type { SwitchOutcome } from "../../api/modeSwitches";
import type { CallView } from "../../api/schema";
import { createAtom, useAtom } from "../../app/atom";
import { readStorage, writeStorage } from "../../app/storage";
import { useAppServices, useSelector } from "../../app/appServices";
import { ariaKeysOf, keysOf, useShortcut } from "../../app/shortcuts";
import { useTexts } from "../../i18n/texts";
import { isConnected, modeOf } from "../../store/selectors";
import { Icon } from "../../ui/icons";
import { Menu } from "../../ui/Menu";
import { ForeignText } from "../../ui/ForeignText";
import { visibleLine, visibleName } from "../../ui/safeText";
import { notify } from "../../ui/Notices";
import { readDigests } from "../read-progress/readProgress";
import { ModeIcon } from "./ModeIcon";
import { ModeSwitchDialog } from "./ModeSwitchDialog";
import {
  MODE_STORAGE_KEY,
  callsToConfirm,
  defaultMode,
  effectiveMode,
  parseStoredMode,
  serializeMode,
} from "./storedMode";
import { useModes } from "./useModes";
import "./modes.css";

/** The mode chosen in this browser tab, shared by all components that show it. */
export const selectedMode = createAtom<string | null>(null);

/** The mode of a conversation, or the mode that a new conversation will have. */
export function useMode(id: string | null): {
  /** Null until the server has sent the modes. */
  mode: string | null;
  /** The mode that the user chose explicitly: sent when a conversation is created. Without one, the server decides. */
  selected: string | null;
  remember(mode: string): void;
} {
  const { environment } = useAppServices();
  const modes = useModes();
  const contextMode = useSelector((state) => (id === null ? null : modeOf(state, id)), [id]);
  const selected = useAtom(selectedMode);
  const stored =
    selected === null
      ? parseStoredMode(readStorage(MODE_STORAGE_KEY), modes.length === 0 ? null : modes)
      : { mode: selected, updatedAt: 0 };
  return {
    mode: effectiveMode(contextMode === null ? null : { mode: contextMode }, stored, defaultMode(modes)),
    selected: stored?.mode ?? null,
    remember(mode) {
      selectedMode.set(mode);
      writeStorage(MODE_STORAGE_KEY, serializeMode(mode, environment.now()));
    },
  };
}

/** Keyed by conversation, so that a pending confirmation never applies to another conversation. */
export function ModeSelector({ id }: { id: string | null }) {
  return <ContextModeSelector key={id ?? ""} id={id} />;
}

function ContextModeSelector({ id }: { id: string | null }) {
  const t = useTexts("modes");
  const { act, api, switches } = useAppServices();
  const modes = useModes();
  const { mode, remember } = useMode(id);
  const isOnline = useSelector(isConnected);
  const [confirmation, setConfirmation] = useState<{ mode: string; calls: readonly CallView[] } | null>(null);
  const current = modes.find((each) => each.name === mode);
  const requested = useRef<string | null>(null);
  const endSwitch = useRef<(outcome: SwitchOutcome) => void>(() => {});
  /** Registers the switch, so that requests that start a turn wait for its outcome. */
  const beginSwitch = (context: string) => {
    const end = switches.begin(context);
    endSwitch.current("superseded");
    endSwitch.current = end;
    return end;
  };
  const isMounted = useRef(false);
  useEffect(() => {
    isMounted.current = true;
    return () => {
      isMounted.current = false;
      if (requested.current === null) endSwitch.current("stayed"); // the dialog disappears with the selector
    };
  }, []);

  /** Sends the switch. `shown` contains the digests of the calls that it may start; newer calls keep waiting. */
  const switchTo = (name: string, shown: readonly string[]) => {
    requested.current = null;
    remember(name);
    if (id !== null) act({ kind: "mode", id, mode: name, shown });
    endSwitch.current("superseded"); // the request registers itself
    setConfirmation(null);
  };
  /** Starts a switch. `confirmed` contains the calls that the user has read and wants to start. */
  const choose = async (name: string, confirmed: readonly CallView[] = []) => {
    requested.current = name === mode ? null : name;
    if (name === mode) return endSwitch.current("switched");
    if (id === null) return switchTo(name, []);
    const end = beginSwitch(id);
    const input = { path: { context_id: id }, query: { mode: name } };
    const preview = await api("GET /api/contexts/{context_id}/mode/preview", input).catch(() => null);
    if (requested.current !== name) return end("superseded"); // another mode was chosen meanwhile
    const calls = callsToConfirm(preview?.items ?? [], readDigests.getSnapshot(), confirmed);
    if (preview !== null && calls.length === 0)
      return switchTo(
        name,
        preview.items.map(({ digest }) => digest),
      );
    requested.current = null;
    if (preview !== null && isMounted.current) return setConfirmation({ mode: name, calls });
    end("stayed");
    if (preview === null) notify(t("unsure"), true);
  };
  const next = () => {
    const index = modes.findIndex((each) => each.name === (requested.current ?? mode));
    const nextMode = modes[(index + 1) % modes.length];
    if (nextMode !== undefined) void choose(nextMode.name);
  };
  useShortcut("mode.next", isOnline ? next : null);

  if (modes.length === 0)
    return (
      <span className="mode-button is-unknown">
        <ForeignText text={visibleName(mode ?? "…")} />
      </span>
    );
  const title = visibleName(current?.title ?? mode ?? "…");
  return (
    <>
      <Menu
        label={t("mode", { title, meaning: visibleLine(current?.meaning ?? "") })}
        title={t("hint", { keys: keysOf("mode.next") })}
        shortcut={ariaKeysOf("mode.next")}
        buttonClass="button small mode-button"
        placement="above"
        button={
          <>
            {current !== undefined && <ModeIcon mode={current} />}
            <ForeignText text={title} />
            <Icon name="chevron" size={14} />
          </>
        }
        entries={modes.map((each, index) => ({
          key: each.name,
          label: visibleName(each.title),
          note: visibleLine(each.meaning),
          icon: <ModeIcon mode={each} />,
          isSelected: each.name === mode,
          ...(index < 9 ? { shortcut: String(index + 1) } : {}),
          onSelect: () => void choose(each.name),
        }))}
      />
      {confirmation !== null && (
        <ModeSwitchDialog
          title={modes.find((each) => each.name === confirmation.mode)?.title ?? confirmation.mode}
          calls={confirmation.calls}
          onSwitch={() => void choose(confirmation.mode, confirmation.calls)}
          onClose={() => {
            endSwitch.current("stayed");
            setConfirmation(null);
          }}
        />
      )}
    </>
  );
}
