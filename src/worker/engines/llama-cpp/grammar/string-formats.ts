const HEX = '[0-9a-f]';
const LABEL = '[A-Za-z0-9]([A-Za-z0-9-]*[A-Za-z0-9])?';
const SHORT_LABEL = '[A-Za-z0-9]([A-Za-z0-9-]{0,18}[A-Za-z0-9])?';
const BYTE = '(25[0-5]|2[0-4][0-9]|1[0-9][0-9]|[1-9]?[0-9])';
const DAY = '(0[1-9]|[12][0-9])';
const DATE = `[1-9][0-9]{3}-((0[13578]|1[02])-(${DAY}|3[01])|(0[469]|11)-(${DAY}|30)|02-(0[1-9]|1[0-9]|2[0-8]))`;
const MINUTE = '([01][0-9]|2[0-3]):[0-5][0-9]';
const TIME = `${MINUTE}:[0-5][0-9](\\.[0-9]{1,6})?(Z|[+-]${MINUTE})`;
const GROUP = '[0-9a-f]{1,4}';
const IN_URI = "([A-Za-z0-9._~!$&'()*+,;=:@/-]|%[0-9A-F][0-9A-F])";
const SPAN = 'T([0-9]{1,4}H([0-9]{1,4}M([0-9]{1,4}S)?)?|[0-9]{1,4}M([0-9]{1,4}S)?|[0-9]{1,4}S)';
const DAYS = '([0-9]{1,4}Y([0-9]{1,4}M([0-9]{1,4}D)?)?|[0-9]{1,4}M([0-9]{1,4}D)?|[0-9]{1,4}D)';

/** Values of `format` that can be held, as patterns: what they let through is valid, not all that is valid (no 29 February). */
export const KNOWN_FORMATS: Readonly<Record<string, string>> = {
  date: `^${DATE}$`,
  time: `^${TIME}$`,
  'date-time': `^${DATE}T${TIME}$`,
  duration: `^P([0-9]{1,4}W|${DAYS}(${SPAN})?|${SPAN})$`,
  email: `^[A-Za-z0-9_+-]{1,30}(\\.[A-Za-z0-9_+-]{1,16}){0,2}@(${LABEL}\\.)+[A-Za-z]{2,16}$`,
  hostname: `^${SHORT_LABEL}(\\.${SHORT_LABEL}){0,3}$`,
  ipv4: `^(${BYTE}\\.){3}${BYTE}$`,
  ipv6: `^((${GROUP}:){7}${GROUP}|::(${GROUP}(:${GROUP}){0,5})?|(${GROUP}:){1,3}(:${GROUP}){1,3}|(${GROUP}:){1,5}:)$`,
  uri: `^https?://(${LABEL}\\.)*${LABEL}(:[1-9][0-9]{0,3})?(/${IN_URI}*)?(\\?${IN_URI}*)?(#${IN_URI}*)?$`,
  uuid: `^${HEX}{8}-${HEX}{4}-[1-8]${HEX}{3}-[89ab]${HEX}{3}-${HEX}{12}$`,
};

/** Values of `format` that say how a text is shown or what it is for, and rule nothing out. */
export const DESCRIBING_FORMATS: ReadonlySet<unknown> = new Set([
  ...['password', 'binary', 'path', 'file-path', 'directory-path', 'textarea', 'multi-line', 'markdown'],
]);

/** Patterns that zod 4 writes beside a format and that let all of our texts of that format through, but take too many states to hold. */
export const IMPLIED_PATTERNS: ReadonlyMap<string, string> = new Map([
  [
    '^(?=.{1,253}\\.?$)[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?(?:\\.[a-zA-Z0-9](?:[-0-9a-zA-Z]{0,61}[0-9a-zA-Z])?)*\\.?$',
    'hostname',
  ],
]);
