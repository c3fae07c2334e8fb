const MASK = '[redacted]';
const SECRET_NAME = /secret|token|password|passwd|authorization|api_?key|access_?key|credential|cookie/i;
/** Names of files and folders are no secrets, and help. */
const PLACE_NAME = /(file|dir|folder|path)$/i;

const PATTERNS: readonly (readonly [pattern: RegExp, replacement: string])[] = [
  [/([a-z][a-z0-9+.-]*:\/\/)[^\s/@"']+@/gi, `$1${MASK}@`],
  [/\b(Bearer|Basic)\s+[\w.~+/=-]+/gi, `$1 ${MASK}`],
  [/\b(sk|sy|hf|ek|key)[-_][\w-]{16,}/g, MASK],
];

/**
 * `value` as JSON, without secrets: fields by their names, addresses with passwords, bearer tokens and keys by their
 * form, and the `known` values wherever they are.
 */
export function redactedJson(value: unknown, known: readonly string[]): string {
  const json = JSON.stringify(value, (name, field: unknown) => (isSecret(name, field) ? MASK : field), 2);
  return redactedText(json ?? 'null', known);
}

export function redactedText(text: string, known: readonly string[]): string {
  const without = known.reduce((rest, secret) => rest.replaceAll(secret, MASK), text);
  return PATTERNS.reduce((rest, [pattern, replacement]) => rest.replace(pattern, replacement), without);
}

const isSecret = (name: string, field: unknown): boolean =>
  typeof field === 'string' && field !== '' && SECRET_NAME.test(name) && !PLACE_NAME.test(name);
