/** The mode: always in words, with what each means. A switch that would start what is dangerous or unread asks first. */
import { useEffect, useRef, useState } from "react";
import type { SwitchOutcome } from "../../api/modeSwitches";
import type { CallShape } from "../../api/schema";
import { makeCell, useCell } from "../../app/cell";
import { keep, kept } from "../../app/looks";
import { usePage, useSlice } from "../../app/page";
import { ariaKeysOf, keysOf, useShortcut } from "../../app/shortcuts";
import { useWords } from "../../i18n/words";
import { isConnected, modeOf } from "../../store/selectors";
import { Icon } from "../../ui/icons";
import { Menu } from "../../ui/Menu";
import { ForeignText } from "../../ui/ForeignText";
import { visibleLine, visibleName } from "../../ui/names";
import { notify } from "../../ui/Notices";
import { readDigests } from "../approvals/readProgress";
import { ModeSign } from "./ModeSign";
import { SwitchDialog } from "./SwitchDialog";
import { MODE_KEY, callsToConfirm, defaultMode, modeToShow, readMode, writeMode } from "./remembered";
import { useModes } from "./useModes";
import "./modes.css";

const WORDS = {
  mode: ["Mode: {title}. {meaning}", "模式：{title}。{meaning}"],
  hint: ["Mode ({keys} for the next)", "模式（{keys} 切换下一个）"],
  unsure: [
    "The mode was not switched: the server did not say what that would start.",
    "未切换模式：服务器没有说明切换会启动哪些调用。",
  ],
} as const;

/** What was chosen in this page: the box and what stands above it show the same. */
export const chosenMode = makeCell<string | null>(null);

/** The mode that a new message would have: of the conversation, or of the one that is about to begin. */
export function useMode(id: string | null): {
  /** Null until the server has said which one it is. */
  mode: string | null;
  /** What the person chose themselves: only that is sent for a new conversation, else the server decides. */
  chosen: string | null;
  remember(mode: string): void;
} {
  const { ambient } = usePage();
  const modes = useModes();
  const ofContext = useSlice((state) => (id === null ? null : modeOf(state, id)), [id]);
  const chosen = useCell(chosenMode);
  const remembered =
    chosen === null ? readMode(kept(MODE_KEY), modes.length === 0 ? null : modes) : { mode: chosen, updatedAt: 0 };
  return {
    mode: modeToShow(ofContext === null ? null : { mode: ofContext }, remembered, defaultMode(modes)),
    chosen: remembered?.mode ?? null,
    remember(mode) {
      chosenMode.set(mode);
      keep(MODE_KEY, writeMode(mode, ambient.now()));
    },
  };
}

/** Each conversation has its own: what is asked about one never switches another. */
export function ModeSelector({ id }: { id: string | null }) {
  return <SelectorOf key={id ?? ""} id={id} />;
}

function SelectorOf({ id }: { id: string | null }) {
  const t = useWords(WORDS);
  const { act, api, switches } = usePage();
  const modes = useModes();
  const { mode, remember } = useMode(id);
  const isOn = useSlice(isConnected);
  const [asked, setAsked] = useState<{ mode: string; calls: readonly CallShape[] } | null>(null);
  const present = modes.find((each) => each.name === mode);
  const wanted = useRef<string | null>(null);
  const endSwitch = useRef<(outcome: SwitchOutcome) => void>(() => {});
  /** From the choice on, whatever would start a turn waits until it is known what becomes of the choice. */
  const beginSwitch = (context: string) => {
    const end = switches.begin(context);
    endSwitch.current("superseded");
    endSwitch.current = end;
    return end;
  };
  const isShown = useRef(false);
  useEffect(() => {
    isShown.current = true;
    return () => {
      isShown.current = false;
      if (wanted.current === null) endSwitch.current("stayed"); // the dialog goes with the selector
    };
  }, []);

  /** `shown`: what the switch may start, by digest. A call that has come since goes on waiting. */
  const take = (name: string, shown: readonly string[]) => {
    wanted.current = null;
    remember(name);
    if (id !== null) act({ kind: "mode", id, mode: name, shown });
    endSwitch.current("superseded"); // by the request itself
    setAsked(null);
  };
  /** `confirmed`: the calls that the person has been shown and wants to start. */
  const choose = async (name: string, confirmed: readonly CallShape[] = []) => {
    wanted.current = name === mode ? null : name;
    if (name === mode) return endSwitch.current("switched");
    if (id === null) return take(name, []);
    const end = beginSwitch(id);
    const given = { path: { context_id: id }, query: { mode: name } };
    const found = await api("GET /api/contexts/{context_id}/mode/preview", given).catch(() => null);
    if (wanted.current !== name) return end("superseded"); // another was chosen meanwhile
    const calls = callsToConfirm(found?.items ?? [], readDigests.getSnapshot(), confirmed);
    if (found !== null && calls.length === 0)
      return take(
        name,
        found.items.map(({ digest }) => digest),
      );
    wanted.current = null;
    if (found !== null && isShown.current) return setAsked({ mode: name, calls });
    end("stayed");
    if (found === null) notify(t("unsure"), true);
  };
  const next = () => {
    const place = modes.findIndex((each) => each.name === (wanted.current ?? mode));
    const following = modes[(place + 1) % modes.length];
    if (following !== undefined) void choose(following.name);
  };
  useShortcut("mode.next", isOn ? next : null);

  if (modes.length === 0)
    return (
      <span className="mode-button is-unknown">
        <ForeignText text={visibleName(mode ?? "…")} />
      </span>
    );
  const title = visibleName(present?.title ?? mode ?? "…");
  return (
    <>
      <Menu
        label={t("mode", { title, meaning: visibleLine(present?.meaning ?? "") })}
        title={t("hint", { keys: keysOf("mode.next") })}
        shortcut={ariaKeysOf("mode.next")}
        buttonClass="button small mode-button"
        place="above"
        button={
          <>
            {present !== undefined && <ModeSign mode={present} />}
            <ForeignText text={title} />
            <Icon name="chevron" size={14} />
          </>
        }
        entries={modes.map((each, index) => ({
          key: each.name,
          label: visibleName(each.title),
          note: visibleLine(each.meaning),
          sign: <ModeSign mode={each} />,
          isChosen: each.name === mode,
          ...(index < 9 ? { shortcut: String(index + 1) } : {}),
          onChoose: () => void choose(each.name),
        }))}
      />
      {asked !== null && (
        <SwitchDialog
          title={modes.find((each) => each.name === asked.mode)?.title ?? asked.mode}
          calls={asked.calls}
          onSwitch={() => void choose(asked.mode, asked.calls)}
          onClose={() => {
            endSwitch.current("stayed");
            setAsked(null);
          }}
        />
      )}
    </>
  );
}
