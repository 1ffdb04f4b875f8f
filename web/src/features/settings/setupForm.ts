/** The state of the set-up form, and the request made from it. */
import type { Setup, SetupRequest } from "../../api/schema";

export const OPENAI = "https://api.openai.com/v1";

export interface SetupForm {
  readonly provider: "openai" | "own";
  readonly address: string;
  readonly key: string;
  readonly model: string;
}

/** The initial values: the current set-up, or empty fields for the demo model. */
export function formFrom(setup: Setup): SetupForm {
  const isOwn = setup.base_url != null && setup.base_url !== OPENAI;
  return {
    provider: isOwn ? "own" : "openai",
    address: isOwn ? (setup.base_url ?? "") : "",
    key: "",
    model: setup.provider === "openai" ? setup.model : "",
  };
}

export function baseUrlOf({ provider, address }: SetupForm): string {
  return provider === "openai" ? OPENAI : address.trim();
}

/** The body of the set-up request. An empty key keeps the stored key. */
export function requestBody(form: SetupForm): SetupRequest {
  const [key, model] = [form.key.trim(), form.model.trim()];
  return { base_url: baseUrlOf(form), ...(key === "" ? {} : { key }), ...(model === "" ? {} : { model }) };
}

/** Whether the stored key would be used: it is valid only for the address that it was stored with. */
export function usesStoredKey(setup: Setup, form: SetupForm): boolean {
  const isSame = baseUrlOf(form).replace(/\/+$/, "") === (setup.base_url ?? OPENAI);
  return setup.key_from != null && isSame;
}

export function isComplete(form: SetupForm): boolean {
  return baseUrlOf(form) !== "" && form.model.trim() !== "";
}

/** Whether both forms have the same provider and key; the model may differ. */
export function isSameProvider(a: SetupForm, b: SetupForm): boolean {
  return baseUrlOf(a) === baseUrlOf(b) && a.key.trim() === b.key.trim();
}
