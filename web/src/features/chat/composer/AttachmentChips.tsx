/** The attachments of a draft and their uploads. */
import { useAtom } from "../../../app/atom";
import { useLanguage, useAppServices } from "../../../app/appServices";
import { problemOfError } from "../../../api/types";
import { MAX_UPLOAD_BYTES } from "../../../api/upload";
import { useTexts } from "../../../i18n/texts";
import { IconButton } from "../../../ui/Button";
import { ForeignText } from "../../../ui/ForeignText";
import { Icon } from "../../../ui/icons";
import { visibleName } from "../../../ui/safeText";
import { notify } from "../../../ui/Notices";
import { translateProblem } from "../../../ui/ProblemNote";
import { formatFileSize } from "../../../ui/fileSize";
import { type Attachment, drafts, useDraft } from "../drafts";
import { TOO_LARGE, type Upload, previews, removeUpload, uploads } from "./uploads";

export function AttachmentChips({ id }: { id: string | null }) {
  const t = useTexts("composer");
  const { api } = useAppServices();
  const language = useLanguage();
  const { files } = useDraft(id);
  const currentUploads = useAtom(uploads).filter((each) => each.context === id);
  const remove = (file: Attachment) => {
    drafts.write(id, { files: files.filter((each) => each !== file) });
    // Delete the upload only if it was uploaded for this draft (its size is known): another message may refer to it.
    if (id === null || file.size === null) return;
    removeUpload(api, id, file.path).catch((error: unknown) =>
      notify(translateProblem(problemOfError(error), language), true),
    );
  };
  if (files.length + currentUploads.length === 0) return null;
  return (
    <ul className="composer-chips" aria-label={t("attached")}>
      {files.map((file) => (
        <li key={file.path}>
          <AttachedChip file={file} onRemove={() => remove(file)} />
        </li>
      ))}
      {currentUploads.map((each) => (
        <li key={each.key}>
          <UploadingChip upload={each} />
        </li>
      ))}
    </ul>
  );
}

function AttachedChip({ file, onRemove }: { file: Attachment; onRemove(): void }) {
  const t = useTexts("composer");
  const name = visibleName(file.path.slice(file.path.lastIndexOf("/") + 1));
  return (
    <span className="chip" title={visibleName(file.path)}>
      <Picture kind={file.kind} preview={previews.get(file.path) ?? null} />
      <span className="chip-name">
        <ForeignText text={name} />
      </span>
      {file.size !== null && <span className="chip-note">{formatFileSize(file.size)}</span>}
      <IconButton kind={["quiet", "small"]} icon="close" label={t("remove", { name })} onClick={onRemove} />
    </span>
  );
}

function UploadingChip({ upload }: { upload: Upload }) {
  const t = useTexts("composer");
  const language = useLanguage();
  const { sendFile } = useAppServices();
  const { key, bytes, kind, preview, sent, problem } = upload;
  const name = visibleName(upload.name);
  const problemText =
    problem === TOO_LARGE
      ? t("tooLarge", { limit: formatFileSize(MAX_UPLOAD_BYTES) })
      : problem === null
        ? ""
        : translateProblem(problem, language);
  return (
    <span className={problem === null ? "chip" : "chip bad"}>
      <Picture kind={kind} preview={preview} />
      <span className="chip-name">
        <ForeignText text={name} />
      </span>
      {problem === null ? (
        <progress className="chip-progress" max={bytes.size || 1} value={sent} aria-label={t("progress", { name })} />
      ) : (
        <span className="chip-note" role="alert">
          {problemText}
        </span>
      )}
      {problem !== null && problem !== TOO_LARGE && (
        <IconButton
          kind={["quiet", "small"]}
          icon="retry"
          label={t("again", { name })}
          onClick={() => uploads.retry(sendFile, key)}
        />
      )}
      <IconButton
        kind={["quiet", "small"]}
        icon="close"
        label={t(problem === null ? "cancelUpload" : "remove", { name })}
        onClick={() => uploads.remove(key)}
      />
    </span>
  );
}

function Picture({ kind, preview }: { kind: Attachment["kind"]; preview: string | null }) {
  return preview === null ? <Icon name={kind} size={14} /> : <img className="chip-picture" src={preview} alt="" />;
}
