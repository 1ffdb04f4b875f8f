/** Shown in an empty conversation: the mode, example prompts and recent conversations. */
import { useLanguage, useAppServices } from "../../app/appServices";
import { keysOf } from "../../app/shortcuts";
import { useTexts } from "../../i18n/texts";
import { Icon } from "../../ui/icons";
import { ForeignText } from "../../ui/ForeignText";
import { visibleLine, visibleName } from "../../ui/safeText";
import { relativeTime } from "../../ui/timeFormat";
import { useMode } from "../modes/ModeSelector";
import { ModeIcon } from "../modes/ModeIcon";
import { useModes } from "../modes/useModes";
import { examplesFor } from "./examplePrompts";
import { openDialog } from "../../app/dialogState";
import { ImportLink } from "./ImportLink";
import { fillComposer } from "../chat/composer/fillComposer";
import { useTitleText } from "./useConversationActions";
import { useRecentConversations } from "./useConversations";
import { useModels } from "../models/useModels";
import "./welcome.css";

const MAX_RECENT_CONVERSATIONS = 4;

export function Welcome({ id }: { id: string | null }) {
  const t = useTexts("welcome");
  const exampleText = useTexts("examples");
  const { mode } = useMode(id);
  const currentMode = useModes().find((each) => each.name === mode);
  const isDemo = useModels().some((model) => model.is_default && model.is_demo);
  return (
    <section className="welcome">
      <Icon name="helm" size={44} />
      <h1>{t("title")}</h1>
      {currentMode !== undefined && (
        <p className="soft">
          <ModeIcon mode={currentMode} />{" "}
          <strong>
            <ForeignText text={visibleName(currentMode.title)} />
          </strong>{" "}
          – <ForeignText text={visibleLine(currentMode.meaning)} />
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
          <li key={example}>
            <button type="button" className="button" onClick={() => fillComposer(id, exampleText(example))}>
              {exampleText(example)}
            </button>
          </li>
        ))}
      </ul>
      <RecentConversations excludedId={id} />
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

function RecentConversations({ excludedId }: { excludedId: string | null }) {
  const t = useTexts("welcome");
  const language = useLanguage();
  const titleOf = useTitleText();
  const { act } = useAppServices();
  const conversations = useRecentConversations(MAX_RECENT_CONVERSATIONS + 1)
    .filter((each) => each.context_id !== excludedId)
    .slice(0, MAX_RECENT_CONVERSATIONS);
  if (conversations.length === 0) return null;
  return (
    <div className="welcome-recent">
      <h2>{t("recent")}</h2>
      <ul>
        {conversations.map(({ context_id, title, updated_at }) => (
          <li key={context_id}>
            <button type="button" className="button quiet" onClick={() => act({ kind: "activate", id: context_id })}>
              <span className="sidebar-title">
                <ForeignText text={titleOf(title)} />
              </span>
              <span className="sidebar-note">{relativeTime(updated_at ?? "", language)}</span>
            </button>
          </li>
        ))}
      </ul>
    </div>
  );
}
