/** What an upstream says about its failure, brought to one shape. */
export interface UpstreamProblem {
  /** One line; empty when it said nothing readable. */
  readonly message: string;
  readonly code: string | undefined;
  readonly param: string | undefined;
}

const MAX_CHARACTERS = 500;

type Fields = Readonly<Record<string, unknown>>;

/**
 * Reads OpenAI's `{error: {message, code, param}}`, vLLM's bare `{message, …}`, FastAPI's `{detail}` and plain text. `secret`
 * is struck out wherever it stands: some servers quote the key they refuse.
 */
export function problemIn(body: string, secret: string | undefined): UpstreamProblem {
  const fields = fieldsIn(body);
  const text = fields ? messageOf(fields) : isMarkup(body) ? '' : body;
  return {
    message: oneLine(secret === undefined ? text : text.replaceAll(secret, '***')),
    code: textOf(fields?.code),
    param: textOf(fields?.param),
  };
}

function fieldsIn(body: string): Fields | undefined {
  try {
    const parsed: unknown = JSON.parse(body);
    if (!isFields(parsed)) return undefined;
    return isFields(parsed.error) ? parsed.error : parsed;
  } catch {
    return undefined;
  }
}

function messageOf({ message, error, detail }: Fields): string {
  if (Array.isArray(detail)) return detail.filter(isFields).map(complaint).join('; ');
  return textOf(message) ?? textOf(error) ?? textOf(detail) ?? '';
}

/** One of FastAPI's: `{loc: ["body", "temperature"], msg: "…"}`. */
function complaint({ loc, msg }: Fields): string {
  const field: unknown = Array.isArray(loc) ? loc.at(-1) : undefined;
  return [textOf(field), textOf(msg)].filter(part => part !== undefined).join(': ');
}

const isFields = (value: unknown): value is Fields => typeof value === 'object' && value !== null;
const textOf = (value: unknown): string | undefined => (typeof value === 'string' && value !== '' ? value : undefined);
/** The error page of a proxy tells callers nothing. */
const isMarkup = (body: string): boolean => body.trimStart().startsWith('<');
const oneLine = (text: string): string => text.replace(/\s+/g, ' ').trim().slice(0, MAX_CHARACTERS);
