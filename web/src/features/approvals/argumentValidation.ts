/** Validates edited arguments: JSON syntax, and basic rules of the tool's JSON schema. */
type Schema = { readonly [name: string]: unknown };

export type ArgumentValidation =
  | { readonly kind: "valid"; readonly value: { readonly [name: string]: unknown } }
  | { readonly kind: "unchanged" }
  | { readonly kind: "not_json"; readonly detail: string }
  | { readonly kind: "not_object" }
  | { readonly kind: "missing" | "unknown"; readonly name: string }
  | { readonly kind: "type"; readonly name: string; readonly expected: string };

/** Reports certain mistakes only; the server validates completely. `schema` is null while it is unknown. */
export function validateArguments(text: string, before: unknown, schema: Schema | null): ArgumentValidation {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    return { kind: "not_json", detail: error instanceof Error ? error.message : "" };
  }
  if (!isRecord(value)) return { kind: "not_object" };
  if (JSON.stringify(value) === JSON.stringify(before)) return { kind: "unchanged" };
  return (schema === null ? null : schemaProblem(value, schema)) ?? { kind: "valid", value };
}

function schemaProblem(value: Record<string, unknown>, schema: Schema): ArgumentValidation | null {
  const properties = isRecord(schema.properties) ? schema.properties : {};
  for (const name of Array.isArray(schema.required) ? schema.required : []) {
    if (typeof name === "string" && !Object.hasOwn(value, name)) return { kind: "missing", name };
  }
  for (const [name, argument] of Object.entries(value)) {
    if (!Object.hasOwn(properties, name)) {
      if (schema.additionalProperties === false) return { kind: "unknown", name };
      continue;
    }
    const types = typesOf(properties[name]);
    if (types.length > 0 && !types.some((type) => hasType(argument, type)))
      return { kind: "type", name, expected: types.join(" | ") };
  }
  return null;
}

/** The JSON types that a property allows; empty if the schema does not restrict them plainly. */
function typesOf(property: unknown): readonly string[] {
  if (!isRecord(property)) return [];
  if (typeof property.type === "string") return [property.type];
  if (Array.isArray(property.type)) return property.type.filter((each) => typeof each === "string");
  if (!Array.isArray(property.anyOf)) return [];
  const each = property.anyOf.map(typesOf);
  return each.some((types) => types.length === 0) ? [] : each.flat();
}

function hasType(value: unknown, type: string): boolean {
  switch (type) {
    case "string":
    case "boolean":
      return typeof value === type;
    case "number":
      return typeof value === "number";
    case "integer":
      return Number.isInteger(value);
    case "array":
      return Array.isArray(value);
    case "object":
      return isRecord(value);
    case "null":
      return value === null;
    default:
      return true;
  }
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
