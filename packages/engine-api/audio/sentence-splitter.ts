/**
 * Longer stretches are cut at a comma or a space, so that a cancel never waits for more
 * than about 0.3 s of synthesis.
 */
const LONGEST_PIECE = 300;
/** A full stop after one of these, or after a single letter, ends no sentence. */
const ABBREVIATIONS = new Set(
  'mr mrs ms dr prof sr jr st vs etc inc ltd co corp no vol fig approx dept est e.g i.e a.m p.m u.s u.k'.split(
    ' ',
  ),
);
/**
 * A run of end marks with closing quotes or brackets, then white space: the candidates
 * for a cut.
 */
const END = /[.!?]+["')\]]*\s+|\n+\s*/g;

/**
 * Cuts text into pieces that are spoken one by one: at sentence ends and line ends, never
 * after a common abbreviation or an initial. Pieces are trimmed and never empty.
 */
export function splitIntoSentences(text: string): string[] {
  const sentences: string[] = [];
  let from = 0;
  for (const match of text.matchAll(END)) {
    const end = match.index + match[0].length;
    const sentence = text.slice(from, end);
    if (match[0].startsWith('.') && endsInAbbreviation(sentence)) continue;
    sentences.push(sentence.trim());
    from = end;
  }
  sentences.push(text.slice(from).trim());
  return sentences.filter(sentence => sentence !== '').flatMap(cutToLength);
}

function endsInAbbreviation(sentence: string): boolean {
  const word = /([a-z][a-z.]*)\.\s*$/i.exec(sentence)?.[1]?.toLowerCase();
  if (word === undefined) return false;
  // "I" ends sentences ("so do I."); other single letters are initials.
  return ABBREVIATIONS.has(word) || (word.length === 1 && word !== 'i');
}

function cutToLength(sentence: string): string[] {
  const pieces: string[] = [];
  let rest = sentence;
  while (rest.length > LONGEST_PIECE) {
    const at = cutPoint(rest);
    pieces.push(rest.slice(0, at).trim());
    rest = rest.slice(at).trim();
  }
  return [...pieces, rest].filter(piece => piece !== '');
}

/** After the last clause mark, else at the last space, else right at the limit. */
function cutPoint(text: string): number {
  const head = text.slice(0, LONGEST_PIECE);
  const clause = Math.max(...[', ', '; ', ': '].map(mark => head.lastIndexOf(mark)));
  if (clause > LONGEST_PIECE / 3) return clause + 1;
  const space = head.lastIndexOf(' ');
  return space > 0 ? space : LONGEST_PIECE;
}
