export const TEXT_OR_TOKENS =
  'must be a text, a list of texts, a list of token ids, or a list of those, and none of them empty';

const isTokens = (value: unknown): boolean =>
  Array.isArray(value) &&
  value.length > 0 &&
  value.every(item => Number.isSafeInteger(item) && Number(item) >= 0);

export const isText = (value: unknown): boolean => typeof value === 'string' && value !== '';

/** What `prompt` and `input` may be. Empty texts and lists are none. */
export const isTextOrTokens = (value: unknown): boolean =>
  isText(value) ||
  isTokens(value) ||
  (Array.isArray(value) && value.length > 0 && (value.every(isText) || value.every(isTokens)));

/** How many texts it holds. @param value one that `isTextOrTokens` accepts */
export const countInputs = (value: string | readonly unknown[]): number =>
  typeof value === 'string' || typeof value[0] === 'number' ? 1 : value.length;
