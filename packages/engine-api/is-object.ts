/** A JSON object whose values are not checked yet. */
export type Fields = Readonly<Record<string, unknown>>;

/** An object that is not a list. */
export const isObject = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** The fields of an object; an empty object for any other value. */
export const fieldsIn = (value: unknown): Fields => (isObject(value) ? value : {});
