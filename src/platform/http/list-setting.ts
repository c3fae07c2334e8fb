/** Entries of a text with commas, without blanks. */
export const listed = (text: string): readonly string[] =>
  text
    .split(',')
    .map(entry => entry.trim())
    .filter(entry => entry !== '');
