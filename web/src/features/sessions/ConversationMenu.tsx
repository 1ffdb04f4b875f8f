/** What can be done with the conversation that is open, and what it is: its model, its persona, its folder. */
import { useState } from "react";
import { problemOfError } from "../../api/types";
import { useLanguage, usePage, useSlice } from "../../app/page";
import { useWords } from "../../i18n/words";
import { canContinue, isBusy } from "../../store/selectors";
import { Dialog } from "../../ui/Dialog";
import { Icon } from "../../ui/icons";
import { Menu, type MenuEntry } from "../../ui/Menu";
import { ForeignText } from "../../ui/ForeignText";
import { exactName } from "../../ui/names";
import { notify } from "../../ui/Notices";
import { sayProblem } from "../../ui/ProblemNote";
import { RenameBox } from "./RenameBox";
import { TrustDialog } from "./TrustDialog";
import { useActions, useTitleOf } from "./useActions";
import { useModelName } from "./useModels";

const WORDS = {
  menu: ["This conversation", "此对话"],
  rename: ["Rename", "重命名"],
  persona: ["as {name}", "角色：{name}"],
  pause: ["Pause", "暂停"],
  resume: ["Go on", "继续"],
  undo: ["Undo the last file change", "撤销最近的文件修改"],
  undone: ["Undone: {paths}.", "已撤销：{paths}。"],
  left: ["Not put back: {left}", "未能恢复：{left}"],
  trust: ["The folder's own settings…", "文件夹自带的设置……"],
  parent: ["Go to what sent it", "转到派出它的对话"],
} as const;

export function ConversationMenu({ id }: { id: string }) {
  const t = useWords(WORDS);
  const language = useLanguage();
  const { act, api } = usePage();
  const [shown, setShown] = useState<"rename" | "trust" | null>(null);
  const title = useTitleOf(id);
  const known = useSlice(
    (state) => {
      const shape = state.contexts[id]?.shape.value;
      if (shape == null) return null;
      const { title: raw, archived, parent, workspace, config, turn, current_state } = shape;
      return {
        raw,
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
  const isWorking = useSlice((state) => isBusy(state, id), [id]);
  const mayContinue = useSlice((state) => canContinue(state, id), [id]);
  const model = useModelName(known?.model ?? null);
  const { entries, dialog } = useActions({ id, title, archived: known?.archived ?? false }, () => setShown("rename"));
  if (known === null) return null;

  const undo = async () => {
    try {
      const { paths, left } = await api("POST /api/contexts/{context_id}/undo", { path: { context_id: id } });
      const notLeft = left == null ? "" : ` ${t("left", { left })}`;
      notify(t("undone", { paths: paths.map(exactName).join(", ") }) + notLeft, left != null);
    } catch (error) {
      notify(sayProblem(problemOfError(error), language), true);
    }
  };
  const steer = (how: "pause" | "resume" | "continue") => () => act({ kind: "steer", id, how });
  const { parent } = known;
  const own: (MenuEntry | false)[] = [
    parent !== null && {
      key: "parent",
      label: t("parent"),
      sign: <Icon name="split" />,
      onChoose: () => void act({ kind: "activate", id: parent }),
    },
    isWorking &&
      known.isOpen && { key: "pause", label: t("pause"), sign: <Icon name="pause" />, onChoose: steer("pause") },
    known.state === "paused" && {
      key: "resume",
      label: t("resume"),
      sign: <Icon name="play" />,
      onChoose: steer("resume"),
    },
    mayContinue && { key: "continue", label: t("resume"), sign: <Icon name="play" />, onChoose: steer("continue") },
    { key: "undo", label: t("undo"), sign: <Icon name="undo" />, onChoose: () => void undo() },
    { key: "trust", label: t("trust"), sign: <Icon name="folder" />, onChoose: () => setShown("trust") },
  ];
  return (
    <>
      <Menu
        label={t("menu")}
        button={<Icon name="more" />}
        place="below-end"
        head={
          <>
            <div>
              <ForeignText
                text={[
                  model,
                  ...(known.persona === null ? [] : [t("persona", { name: exactName(known.persona) })]),
                ].join(" · ")}
              />
            </div>
            {known.workspace !== null && (
              <code>
                <ForeignText text={exactName(known.workspace)} />
              </code>
            )}
          </>
        }
        entries={[...own.filter((entry) => entry !== false), ...entries]}
      />
      {dialog}
      {shown === "rename" && (
        <Dialog title={t("rename")} onClose={() => setShown(null)}>
          <RenameBox id={id} title={known.raw ?? ""} isAlone onDone={() => setShown(null)} />
        </Dialog>
      )}
      {shown === "trust" && <TrustDialog id={id} onClose={() => setShown(null)} />}
    </>
  );
}
