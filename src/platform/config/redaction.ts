import { SECRET_VARIABLES } from '@switchyard/engine-api/process/foreign-environment.js';

const MASK = '[redacted]';
const STEMS =
  'secret|token(?!s|iz)|passw(?:or)?d|authorization|(?:api|access|private)[-_]?key|credential|cookie|signature';
/** Bounded on both sides: a line may hold 64 KiB of letters. */
const NAME = `[\\w.-]{0,48}(?:${STEMS})[\\w.-]{0,48}`;
/** Names of files, folders and addresses are no secrets, and help. */
const PLACE_NAME = /(file|dir|folder|path|url|name)$/i;
/** A quote, also inside a text that is itself quoted. */
const QUOTE = `\\\\*["']`;
const TEXT = `[^"'\\\\]*(?:\\\\+[^"'\\\\][^"'\\\\]*)*`;

/**
 * What precedes a secret, with the name in its first group if there is one, and the
 * secret after that.
 */
const PLACES: readonly RegExp[] = [
  // scheme://user:password@
  /([a-z][a-z0-9+.-]{0,30}:\/\/)[^\s/@"']+(?=@)/gi,
  /(\b(?:Bearer|Basic)\s+)[\w.~+/=-]+/gi,
  // ?key=V in an address, NAME=V anywhere
  /([?&](?:key|sig|auth|code|pass|pwd)=)[^\s"'&#]+/gi,
  new RegExp(`(${NAME}=${QUOTE}?)[^\\s"'\\\\&#,;]+`, 'gi'),
  // "NAME": "V" and NAME: 'V'
  new RegExp(`(${NAME}(?:${QUOTE})?\\s*:\\s*${QUOTE})${TEXT}`, 'gi'),
  // --NAME V and ["--NAME", "V"]
  new RegExp(`(--?${NAME}(?:\\s+|${QUOTE}\\s*,\\s*${QUOTE}))[^\\s"'\\\\]+`, 'gi'),
  // --auth V, a form of others, in one text or as two arguments
  new RegExp(
    `((?<![\\w-])--?(?:auth|pass|pwd|key)(?:=|\\s+|${QUOTE}\\s*,\\s*${QUOTE}))[^\\s"'\\\\]+`,
    'gi',
  ),
  // A header in a text.
  /((?:authorization|cookie|api-key|[\w-]{1,48}-(?:key|token|secret))\s*:\s*)[^\s"'\\{[][^"'\\\r\n]*/gi,
  // All headers and variables of an object: their names are the operator's.
  /((?<quote>\\*["']|\b)(?:headers|env)\k<quote>\s*:\s*)\{[^{}]*\}/gi,
];
const KEY = /\b(sk|sy|hf|ek|key)[-_][\w-]{16,}/g;
/** Most lines have none of these and are not searched. */
const SUSPICIOUS = new RegExp(
  `${STEMS}|://|bearer|basic|key|sig=|auth=|code=|pass=|pwd=|-auth|-pass|-pwd|headers|env|\\b(sk|sy|hf|ek)[-_]`,
  'i',
);

/** Shorter ones would mask parts of other words. */
const SHORTEST = 4;
const known = new Set<string>();

/** From now on these values are removed wherever they are; of an address its password. */
export function protectSecrets(values: readonly string[]): void {
  for (const value of values) {
    const forms = value.includes('://')
      ? passwordsIn(value)
      : [value, JSON.stringify(value).slice(1, -1)];
    for (const form of forms) if (form.length >= SHORTEST) known.add(form);
  }
}

/** As they are written, and as a client sends them. */
function passwordsIn(text: string): readonly string[] {
  return [...text.matchAll(/:\/\/[^\s/:@"']*:([^\s/@"']+)@/g)].flatMap(([, password = '']) => {
    try {
      return [password, decodeURIComponent(password)];
    } catch {
      return [password];
    }
  });
}

for (const [name, value = ''] of Object.entries(process.env)) {
  const isSecret = SECRET_VARIABLES.has(name) || /(KEY|TOKEN|SECRET|PASSWORD)$/.test(name);
  if (isSecret && value.length >= 6) protectSecrets([value]);
  // A worker gets its queue's address in a variable of another form.
  protectSecrets(passwordsIn(value));
}

/**
 * The only redactor: for log lines, for what a crash prints, and for the support bundle.
 * Removes secrets by their places (addresses, headers, arguments, fields), by their form,
 * and by their values, where they were announced.
 */
export function redacted(text: string): string {
  let rest = text;
  // By their places first: a password that is a usual word must not change the names of
  // fields before that.
  if (SUSPICIOUS.test(text))
    rest = PLACES.reduce((left, place) => left.replace(place, masked), text).replace(KEY, MASK);
  for (const secret of known) if (rest.includes(secret)) rest = withoutSecret(rest, secret);
  return rest;
}

/** A usual word is removed only where it is one. */
const withoutSecret = (text: string, secret: string) =>
  text.replaceAll(
    /^[a-z]+$/i.test(secret) ? new RegExp(`(?<!\\w)${secret}(?!\\w)`, 'g') : secret,
    MASK,
  );

function masked(found: string, before: string, quote: unknown) {
  if (found.endsWith('}')) return `${before}${String(quote)}${MASK}${String(quote)}`;
  const name = /^-*([\w.-]+)/.exec(before)?.[1] ?? '';
  return PLACE_NAME.test(name) && !before.endsWith('://') ? found : before + MASK;
}
