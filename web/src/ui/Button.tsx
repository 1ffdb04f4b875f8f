/** Buttons: with words, or with a sign alone and its words as label and hint. */
import type { ComponentProps } from "react";
import { Icon, type IconName } from "./icons";

type Kind = "primary" | "danger" | "quiet" | "small";

interface Props extends Omit<ComponentProps<"button">, "className"> {
  kind?: Kind | readonly Kind[];
  icon?: IconName;
  /** Why it cannot be used now. It stays reachable, so that the reason can be read. */
  whyNot?: string | null;
  extraClass?: string;
}

function classOf(kind: Props["kind"], extra: string): string {
  return ["button", ...(kind === undefined ? [] : [kind].flat()), extra].filter(Boolean).join(" ");
}

export function Button({ kind, icon, whyNot, extraClass = "", children, onClick, title, ...rest }: Props) {
  const isDisabled = whyNot != null;
  return (
    <button
      type="button"
      className={classOf(kind, extraClass)}
      aria-disabled={isDisabled || undefined}
      title={whyNot ?? title}
      onClick={isDisabled ? (event) => event.preventDefault() : onClick}
      {...rest}
    >
      {icon !== undefined && <Icon name={icon} />}
      {children}
    </button>
  );
}

/** A sign alone. `label` is what it does. */
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
