/** A text whose only element is `speak`. */
const DOCUMENT = /^\s*(?:<\?[^<>]*\?>\s*)?<speak[\s/>]/;
const TAG = /<[^<>]*>/g;
/** Tags that separate words. */
const SEPARATING = /^<\/?(?:speak|p|s|break)\b/;
const CHARACTERS: Readonly<Record<string, string>> = {
  '&amp;': '&',
  '&lt;': '<',
  '&gt;': '>',
  '&quot;': '"',
  '&apos;': "'",
};

/** The text of an SSML document without its tags; undefined where `input` is none. */
export function textOfSsml(input: string): string | undefined {
  if (!DOCUMENT.test(input)) return undefined;
  return input
    .replaceAll(TAG, tag => (SEPARATING.test(tag) ? ' ' : ''))
    .replaceAll(/&(?:amp|lt|gt|quot|apos);/g, name => CHARACTERS[name]!)
    .replaceAll(/\s+/g, ' ')
    .trim();
}
