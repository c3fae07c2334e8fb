const names = new Intl.DisplayNames(['en'], { type: 'language', fallback: 'none' });

/**
 * `verbose_json` names the language in English and lower case (`en` → `english`), as Whisper does.
 * Regions are dropped (`en-GB` → `english`); what has no name is given back as it came.
 */
export function languageName(tag: string): string {
  const base = tag.split('-', 1)[0] ?? '';
  if (!/^[A-Za-z]{2,3}$/.test(base)) return tag.toLowerCase();
  return names.of(base)?.toLowerCase() ?? tag.toLowerCase();
}
