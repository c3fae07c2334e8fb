/** Scripts that put no space between words. */
const UNSPACED =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}\u3000-\u303f\uff00-\uffef]/u;

/** What stands between two pieces of one text: a space, or nothing in scripts without spaces or beside an empty piece. */
export function gapBetween(before: string, after: string): string {
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
