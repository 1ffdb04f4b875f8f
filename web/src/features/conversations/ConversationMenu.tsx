/** The menu of the open conversation: its actions, model, persona and folder. */
import { useState } from "react";
import { problemOfError } from "../../api/types";
import { useLanguage, useAppServices, useSelector } from "../../app/appServices";
import { useTexts } from "../../i18n/texts";
import { canContinue, isBusy } from "../../store/selectors";
import { Dialog } from "../../ui/Dialog";
import { Icon } from "../../ui/icons";
import { Menu, type MenuEntry } from "../../ui/Menu";
import { ForeignText } from "../../ui/ForeignText";
import { exactName } from "../../ui/safeText";
import { notify } from "../../ui/Notices";
import { translateProblem } from "../../ui/ProblemNote";
import { RenameField } from "./RenameField";
import { TrustDialog } from "../trust/TrustDialog";
import { useConversationActions, useContextTitle } from "./useConversationActions";
import { useModelName } from "../models/useModels";

export function ConversationMenu({ id }: { id: string }) {
  const t = useTexts("conversationMenu");
  const language = useLanguage();
  const { act, api } = useAppServices();
  const [openDialog, setOpenDialog] = useState<"rename" | "trust" | null>(null);
  const title = useContextTitle(id);
  const conversation = useSelector(
    (state) => {
      const view = state.contexts[id]?.view.value;
      if (view == null) return null;
      const { title: storedTitle, archived, parent, workspace, config, turn, current_state } = view;
      return {
        storedTitle,
        archived,
        parent,
        workspace,
        model: config.model ?? null,
        persona: config.persona ?? null,
        isOpen: turn !== null,
        state: current_state.type,
      };
    },
    [id],
  );
  const isWorking = useSelector((state) => isBusy(state, id), [id]);
  const mayContinue = useSelector((state) => canContinue(state, id), [id]);
  const model = useModelName(conversation?.model ?? null);
  const { entries, dialog } = useConversationActions({ id, title, archived: conversation?.archived ?? false }, () =>
    setOpenDialog("rename"),
  );
  if (conversation === null) return null;

  const undo = async () => {
    try {
      const { paths, left } = await api("POST /api/contexts/{context_id}/undo", { path: { context_id: id } });
      const leftText = left == null ? "" : ` ${t("left", { left })}`;
      notify(t("undone", { paths: paths.map(exactName).join(", ") }) + leftText, left != null);
    } catch (error) {
      notify(translateProblem(problemOfError(error), language), true);
    }
  };
  const controlTurn = (action: "pause" | "resume" | "continue") => () => act({ kind: "control", id, action });
  const { parent } = conversation;
  const stateEntries: (MenuEntry | false)[] = [
    parent !== null && {
      key: "parent",
      label: t("parent"),
      icon: <Icon name="split" />,
      onSelect: () => void act({ kind: "activate", id: parent }),
    },
    isWorking &&
      conversation.isOpen && {
        key: "pause",
        label: t("pause"),
        icon: <Icon name="pause" />,
        onSelect: controlTurn("pause"),
      },
    conversation.state === "paused" && {
      key: "resume",
      label: t("resume"),
      icon: <Icon name="play" />,
      onSelect: controlTurn("resume"),
    },
    mayContinue && {
      key: "continue",
      label: t("resume"),
      icon: <Icon name="play" />,
      onSelect: controlTurn("continue"),
    },
    { key: "undo", label: t("undo"), icon: <Icon name="undo" />, onSelect: () => void undo() },
    { key: "trust", label: t("trust"), icon: <Icon name="folder" />, onSelect: () => setOpenDialog("trust") },
  ];
  return (
    <>
      <Menu
        label={t("menu")}
        button={<Icon name="more" />}
        placement="below-end"
        header={
          <>
            <div>
              <ForeignText
                text={[
                  model,
                  ...(conversation.persona === null ? [] : [t("persona", { name: exactName(conversation.persona) })]),
                ].join(" · ")}
              />
            </div>
            {conversation.workspace !== null && (
              <code>
                <ForeignText text={exactName(conversation.workspace)} />
              </code>
            )}
          </>
        }
        entries={[...stateEntries.filter((entry) => entry !== false), ...entries]}
      />
      {dialog}
      {openDialog === "rename" && (
        <Dialog title={t("rename")} onClose={() => setOpenDialog(null)}>
          <RenameField
            id={id}
            title={conversation.storedTitle ?? ""}
            hasSaveButton
            onDone={() => setOpenDialog(null)}
          />
        </Dialog>
      )}
      {openDialog === "trust" && <TrustDialog id={id} onClose={() => setOpenDialog(null)} />}
    </>
  );
}
