/** What is typed into the set-up, and what it becomes in a request. */
import type { Setup, SetupRequest } from "../../api/schema";

export const OPENAI = "https://api.openai.com/v1";

export interface SetupForm {
  readonly where: "openai" | "own";
  readonly address: string;
  readonly key: string;
  readonly model: string;
}

/** It begins with what is used now; of the demo there is nothing to begin with. */
export function formFrom(setup: Setup): SetupForm {
  const isOwn = setup.base_url != null && setup.base_url !== OPENAI;
  return {
    where: isOwn ? "own" : "openai",
    address: isOwn ? (setup.base_url ?? "") : "",
    key: "",
    model: setup.provider === "openai" ? setup.model : "",
  };
}

export function baseUrlOf({ where, address }: SetupForm): string {
  return where === "openai" ? OPENAI : address.trim();
}

/** A key that is left empty is the one that is kept already, where there is one. */
export function requestBody(form: SetupForm): SetupRequest {
  const [key, model] = [form.key.trim(), form.model.trim()];
  return { base_url: baseUrlOf(form), ...(key === "" ? {} : { key }), ...(model === "" ? {} : { model }) };
}

/** Whether the key that is kept would be used: a key is for the address that it was given for. */
export function usesStoredKey(setup: Setup, form: SetupForm): boolean {
  const isSame = baseUrlOf(form).replace(/\/+$/, "") === (setup.base_url ?? OPENAI);
  return setup.key_from != null && isSame;
}

export function isComplete(form: SetupForm): boolean {
  return baseUrlOf(form) !== "" && form.model.trim() !== "";
}

/** Whether both name the same provider with the same key; the model may differ. */
export function isSameProvider(one: SetupForm, other: SetupForm): boolean {
  return baseUrlOf(one) === baseUrlOf(other) && one.key.trim() === other.key.trim();
}
