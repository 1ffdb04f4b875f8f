/** What is typed into the set-up, and what it becomes in a request. */
import type { Setup, WantedSetup } from "../../api/schema";

export const OPENAI = "https://api.openai.com/v1";

export interface Wanted {
  readonly where: "openai" | "own";
  readonly address: string;
  readonly key: string;
  readonly model: string;
}

/** It begins with what is used now; of the demo there is nothing to begin with. */
export function wantedFrom(setup: Setup): Wanted {
  const isOwn = setup.base_url != null && setup.base_url !== OPENAI;
  return {
    where: isOwn ? "own" : "openai",
    address: isOwn ? (setup.base_url ?? "") : "",
    key: "",
    model: setup.provider === "openai" ? setup.model : "",
  };
}

export function addressOf({ where, address }: Wanted): string {
  return where === "openai" ? OPENAI : address.trim();
}

/** A key that is left empty is the one that is kept already, where there is one. */
export function bodyOf(wanted: Wanted): WantedSetup {
  const [key, model] = [wanted.key.trim(), wanted.model.trim()];
  return { base_url: addressOf(wanted), ...(key === "" ? {} : { key }), ...(model === "" ? {} : { model }) };
}

/** Whether the key that is kept would be used: a key is for the address that it was given for. */
export function keepsKey(setup: Setup, wanted: Wanted): boolean {
  const isSame = addressOf(wanted).replace(/\/+$/, "") === (setup.base_url ?? OPENAI);
  return setup.key_from != null && isSame;
}

export function isComplete(wanted: Wanted): boolean {
  return addressOf(wanted) !== "" && wanted.model.trim() !== "";
}

/** Whether both name the same provider with the same key; the model may differ. */
export function isSameProvider(one: Wanted, other: Wanted): boolean {
  return addressOf(one) === addressOf(other) && one.key.trim() === other.key.trim();
}
