const names = new Intl.DisplayNames(['en'], { type: 'language', fallback: 'none' });

/**
 * `verbose_json` names the language in English and lower case (`en` → `english`), as
 * Whisper does. Regions are dropped (`en-GB` → `english`); what has no name is given back
 * as it came.
 */
export function languageName(tag: string): string {
  const base = tag.split('-', 1)[0] ?? '';
  if (!/^[A-Za-z]{2,3}$/.test(base)) return tag.toLowerCase();
  return names.of(base)?.toLowerCase() ?? tag.toLowerCase();
}

let tags: ReadonlyMap<string, string> | undefined;

/**
 * The tag of a language by its English name (`English` → `en`); undefined for what is no
 * name of one.
 */
export function languageTag(name: string): string | undefined {
  tags ??= tagsByName();
  return tags.get(name.toLowerCase());
}

/**
 * The language that a caller names: a tag or an English name. Undefined for `auto` and
 * for no language.
 */
export function wantedLanguage(value: string): string | undefined {
  return value.toLowerCase() === 'auto' ? undefined : (languageTag(value) ?? value);
}

function tagsByName(): ReadonlyMap<string, string> {
  const letters = [...'abcdefghijklmnopqrstuvwxyz'];
  const codes = letters.flatMap(first => letters.map(second => first + second));
  // Withdrawn codes such as `iw` have the name of the code that took their place.
  const current = codes.filter(code => Intl.getCanonicalLocales(code)[0] === code);
  return new Map(
    current.flatMap(code =>
      names.of(code) === undefined ? [] : [[languageName(code), code] as const],
    ),
  );
}
