/** Signs of printed text, as flite knows them. */
const PLAIN: Readonly<Record<string, string>> = {
  '\u2018': "'",
  '\u2019': "'",
  '\u201c': '"',
  '\u201d': '"',
  '\u2013': ', ',
  '\u2014': ', ',
  '\u2026': '...',
  '\u00df': 'ss',
  '\u00e6': 'ae',
  '\u00c6': 'Ae',
  '\u00f8': 'o',
  '\u00d8': 'O',
  '\u00b0': ' degrees ',
  '\u00a3': ' pounds ',
  '\u20ac': ' euros ',
};

/** flite reads letters, digits and these signs aloud; from anything else it makes 0.2 s of silence. */
const SPOKEN = /[A-Za-z0-9%&$@+=#~^*]/;

/**
 * What flite can be given: printable ASCII. Typographic signs become plain ones, accents fall off their letters,
 * NUL and other control characters become spaces (a NUL would end the text, for C), line ends stay.
 * Characters of other scripts are left out; `isSpeakable` tells whether anything remains to be said.
 */
export function toSpeakableText(text: string): string {
  return [...text]
    .map(character => PLAIN[character] ?? character)
    .join('')
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .replace(/[^\x20-\x7e\n]+/g, ' ')
    .replace(/[^\S\n]+/g, ' ')
    .trim();
}

export function isSpeakable(text: string): boolean {
  return SPOKEN.test(text);
}
