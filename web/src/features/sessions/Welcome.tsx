/** A conversation that has not begun: what the mode lets the agent do, what one could say, what one did last. */
import { useLanguage, usePage } from "../../app/page";
import { keysOf } from "../../app/shortcuts";
import { sayWord, useWords } from "../../i18n/words";
import { Icon } from "../../ui/icons";
import { ForeignText } from "../../ui/ForeignText";
import { visibleLine, visibleName } from "../../ui/names";
import { ago } from "../../ui/times";
import { useMode } from "../modes/ModeSelector";
import { ModeSign } from "../modes/ModeSign";
import { useModes } from "../modes/useModes";
import { examplesFor } from "./examples";
import { openDialog } from "./opened";
import { ImportLink } from "./ImportLink";
import { propose } from "./propose";
import { useTitle } from "./useActions";
import { useLatest } from "./useConversations";
import { useModels } from "./useModels";
import "./welcome.css";

const WORDS = {
  title: ["What shall we do?", "我们要做什么？"],
  demo: [
    "This is the demo model: a few rules, no key, no intelligence.",
    "当前是演示模型：只有几条规则，无需密钥，没有智能。",
  ],
  setup: ["Set up a model", "设置模型"],
  try: ["Try", "试试"],
  recent: ["Lately", "最近的对话"],
  files: ["names a file", "引用文件"],
  mode: ["next mode", "切换模式"],
  keys: ["all shortcuts", "全部快捷键"],
} as const;
const RECENT = 4;

export function Welcome({ id }: { id: string | null }) {
  const t = useWords(WORDS);
  const language = useLanguage();
  const { mode } = useMode(id);
  const present = useModes().find((each) => each.name === mode);
  const isDemo = useModels().some((model) => model.is_default && model.is_demo);
  return (
    <section className="welcome">
      <Icon name="helm" size={44} />
      <h1>{t("title")}</h1>
      {present !== undefined && (
        <p className="soft">
          <ModeSign mode={present} />{" "}
          <strong>
            <ForeignText text={visibleName(present.title)} />
          </strong>{" "}
          – <ForeignText text={visibleLine(present.meaning)} />
        </p>
      )}
      {isDemo && (
        <p className="soft small">
          {t("demo")}{" "}
          <button type="button" className="link" onClick={() => openDialog("setup")}>
            {t("setup")}
          </button>
        </p>
      )}
      <ul className="welcome-examples" aria-label={t("try")}>
        {examplesFor(mode, isDemo).map((example) => (
          <li key={example[0]}>
            <button type="button" className="button" onClick={() => propose(id, sayWord(example, language))}>
              {sayWord(example, language)}
            </button>
          </li>
        ))}
      </ul>
      <Recent without={id} />
      <ImportLink />
      <p className="welcome-hints soft small">
        <span>
          <kbd className="kbd">@</kbd> {t("files")}
        </span>
        <span>
          <kbd className="kbd">{keysOf("mode.next")}</kbd> {t("mode")}
        </span>
        <span>
          <kbd className="kbd">{keysOf("help.open")}</kbd> {t("keys")}
        </span>
      </p>
    </section>
  );
}

function Recent({ without }: { without: string | null }) {
  const t = useWords(WORDS);
  const language = useLanguage();
  const titleOf = useTitle();
  const { act } = usePage();
  const shown = useLatest(RECENT + 1)
    .filter((each) => each.context_id !== without)
    .slice(0, RECENT);
  if (shown.length === 0) return null;
  return (
    <div className="welcome-recent">
      <h2>{t("recent")}</h2>
      <ul>
        {shown.map(({ context_id, title, updated_at }) => (
          <li key={context_id}>
            <button type="button" className="button quiet" onClick={() => act({ kind: "activate", id: context_id })}>
              <span className="sidebar-title">
                <ForeignText text={titleOf(title)} />
              </span>
              <span className="sidebar-note">{ago(updated_at ?? "", language)}</span>
            </button>
          </li>
        ))}
      </ul>
    </div>
  );
}
