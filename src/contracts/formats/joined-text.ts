/** Scripts that put no space between words. */
const SCRIPTS = ['Han', 'Hiragana', 'Katakana', 'Thai', 'Lao', 'Khmer', 'Myanmar'];
const UNSPACED = new RegExp(
  `[${SCRIPTS.map(name => `\\p{Script=${name}}`).join('')}\\u3000-\\u303f\\uff00-\\uffef]`,
  'u',
);

/**
 * The separator of two pieces of a text: a space, or nothing in scripts without spaces
 * and beside an empty piece.
 */
function gapBetween(before: string, after: string): string {
  const last = [...before.slice(-2)].at(-1) ?? '';
  const [first = ''] = after.slice(0, 2);
  if (last === '' || first === '' || UNSPACED.test(last) || UNSPACED.test(first)) return '';
  return ' ';
}

/** Pieces of one text, each trimmed, with what belongs between them. */
export function joinedText(pieces: readonly string[]): string {
  let text = '';
  for (const piece of pieces) text += gapBetween(text, piece.trim()) + piece.trim();
  return text;
}
