/** The files and images of a message: a picture if its bytes are available, else a chip with the name. */
import type { Reason } from "../../../api/schema";
import { problemOfError } from "../../../api/types";
import { useLanguage, useAppServices } from "../../../app/appServices";
import { translateReason } from "../../../i18n/serverTexts";
import { useTexts } from "../../../i18n/texts";
import { IconButton } from "../../../ui/Button";
import { ForeignText } from "../../../ui/ForeignText";
import { Icon } from "../../../ui/icons";
import { visibleLine, visibleName } from "../../../ui/safeText";
import { notify } from "../../../ui/Notices";
import { translateProblem } from "../../../ui/ProblemNote";
import { uploadName } from "../composer/uploads";

/** A file or image of a stored message or of a payload. */
interface FilePart {
  readonly key: string;
  readonly type: "file_reference" | "image";
  readonly path?: string | null | undefined;
  readonly url?: string | null | undefined;
  readonly data?: string | null | undefined;
  readonly media_type?: string | null | undefined;
  readonly range?: { readonly start_line?: number | null; readonly end_line?: number | null } | null | undefined;
  readonly error?: Reason | null | undefined;
  /** Of a payload. */
  readonly display_text?: string | null | undefined;
  /** Of a stored message. */
  readonly metadata?: { readonly display_text?: string | null } | undefined;
}

interface Part {
  readonly type: string;
  readonly message_id?: string;
}

/** The files and images among the parts of a message. */
export function filesOf(parts: readonly (Part | (Part & Omit<FilePart, "key" | "type">))[]): readonly FilePart[] {
  return parts.flatMap((part, index) => {
    if (part.type !== "file_reference" && part.type !== "image") return [];
    return [{ ...part, type: part.type, key: part.message_id ?? String(index) }];
  });
}

/** With `context`, uploads offer to be copied into the project. */
export function FileChips({ files, context = null }: { files: readonly FilePart[]; context?: string | null }) {
  if (files.length === 0) return null;
  return (
    <ul className="user-message-files">
      {files.map((file) => (
        <li key={file.key}>
          <FileChip file={file} context={context} />
        </li>
      ))}
    </ul>
  );
}

function FileChip({ file, context }: { file: FilePart; context: string | null }) {
  const t = useTexts("userMessage");
  const language = useLanguage();
  const name = visibleName(file.path ?? file.url ?? "");
  const display = displayTextOfFile(file);
  const label = display || name || t("pasted");
  const upload = uploadName(file.path ?? "");
  return (
    <>
      {file.data != null && file.media_type != null && (
        <img
          className="user-message-picture"
          src={`data:${file.media_type};base64,${file.data}`}
          alt={t("image", { name })}
        />
      )}
      <span className={file.error == null ? "chip" : "chip bad"} title={display === "" ? undefined : name}>
        <Icon name={file.type === "image" ? "image" : "file"} size={14} />
        <span className="chip-name">
          <ForeignText text={label} />
          {display === "" && rangeOf(file.range)}
        </span>
        {file.error != null && (
          <span className="chip-note">
            <ForeignText text={translateReason(file.error, language)} />
          </span>
        )}
        {context !== null && upload !== null && <CopyUpload context={context} name={upload} />}
      </span>
    </>
  );
}

/** The text that the sender wants displayed in place of the path; empty if there is none. */
export function displayTextOfFile({ metadata, display_text }: FilePart): string {
  return visibleLine(metadata?.display_text || display_text || "");
}

function CopyUpload({ context, name }: { context: string; name: string }) {
  const t = useTexts("userMessage");
  const language = useLanguage();
  const { api } = useAppServices();
  const copy = () =>
    api("POST /api/contexts/{context_id}/files/{name}/copy", { path: { context_id: context, name }, body: {} }).then(
      ({ path }) => notify(t("copied", { name: visibleName(name), path: visibleName(path) })),
      (error: unknown) => notify(translateProblem(problemOfError(error), language), true),
    );
  return (
    <IconButton
      kind={["quiet", "small"]}
      icon="copy"
      label={t("copyUpload", { name: visibleName(name) })}
      onClick={() => void copy()}
    />
  );
}

function rangeOf(range: FilePart["range"]): string {
  if (range == null) return "";
  const from = range.start_line ?? 1;
  return `:${from}${range.end_line != null && range.end_line !== from ? `-${range.end_line}` : ""}`;
}
