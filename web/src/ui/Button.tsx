/** Buttons with a text, or with an icon and the text as label and tooltip. */
import type { ComponentProps } from "react";
import { Icon, type IconName } from "./icons";

type Kind = "primary" | "danger" | "quiet" | "small";

interface Props extends Omit<ComponentProps<"button">, "className"> {
  kind?: Kind | readonly Kind[];
  icon?: IconName;
  /** Why the button is disabled. A disabled button stays focusable, so that the reason can be read. */
  disabledReason?: string | null;
  extraClass?: string;
}

function classOf(kind: Props["kind"], extra: string): string {
  return ["button", ...(kind === undefined ? [] : [kind].flat()), extra].filter(Boolean).join(" ");
}

export function Button({ kind, icon, disabledReason, extraClass = "", children, onClick, title, ...rest }: Props) {
  const isDisabled = disabledReason != null;
  return (
    <button
      type="button"
      className={classOf(kind, extraClass)}
      aria-disabled={isDisabled || undefined}
      title={disabledReason ?? title}
      onClick={isDisabled ? (event) => event.preventDefault() : onClick}
      {...rest}
    >
      {icon !== undefined && <Icon name={icon} />}
      {children}
    </button>
  );
}

/** A button with an icon only. `label` names its action. */
export function IconButton({
  label,
  extraClass = "",
  title,
  ...rest
}: Omit<Props, "children"> & { icon: IconName; label: string }) {
  return (
    <Button
      aria-label={label}
      title={title ?? label}
      extraClass={`icon ${extraClass}`}
      kind={rest.kind ?? "quiet"}
      {...rest}
    />
  );
}
