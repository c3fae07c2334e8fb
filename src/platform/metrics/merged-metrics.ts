/**
 * Expositions of several processes as one: a metric that more than one of them has is one family, as the format demands. Their
 * samples must differ by a label.
 */
export function mergedMetrics(texts: readonly string[]): string {
  const families = new Map<string, string[]>();
  for (const family of texts.flatMap(text => text.split(/^(?=# HELP )/m))) {
    const [help = '', type = '', ...samples] = family.split('\n').filter(Boolean);
    if (help === '') continue;
    const known = families.get(help);
    if (known) known.push(...samples);
    else families.set(help, [type, ...samples]);
  }
  return [...families].map(([help, lines]) => `${[help, ...lines].join('\n')}\n`).join('\n');
}
