const names = new Intl.DisplayNames(['en'], { type: 'language', fallback: 'none' });
const letters = [...'abcdefghijklmnopqrstuvwxyz'];

let tags: ReadonlyMap<string, string> | undefined;

/** Whisper's `english` as `en`; a tag, and a name that nobody knows, as they came. */
export function languageTag(language: string): string {
  tags ??= new Map(letters.flatMap(first => letters.flatMap(second => named(first + second))));
  return tags.get(language.toLowerCase()) ?? language;
}

function named(tag: string): [string, string][] {
  const name = names.of(tag);
  // Withdrawn tags have the name of their successor, which keeps it.
  return name === undefined || Intl.getCanonicalLocales(tag)[0] !== tag ? [] : [[name.toLowerCase(), tag]];
}
