/** How fields are spelt: `idle_unload_s` in files, `idleUnloadS` in code. */
export type SnakeCase<S extends string> = S extends `${infer Head}${infer Tail}`
  ? Head extends Lowercase<Head>
    ? `${Head}${SnakeCase<Tail>}`
    : `_${Lowercase<Head>}${SnakeCase<Tail>}`
  : S;

export const camelCase = (name: string): string =>
  name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());

/** The keys of a map, and of the maps under `nested`, as code spells them. Other values are left as they are. */
export function camelKeys(map: object, nested: readonly string[] = []): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(map).map(([name, value]: [string, unknown]) => [
      camelCase(name),
      nested.includes(name) && typeof value === 'object' && value !== null ? camelKeys(value) : value,
    ]),
  );
}
