/** One answer of `/metrics`: everything in it was read at the same instant. */
export class MetricsScrape {
  constructor(private readonly text: string) {}

  /** Samples of one name, as label text → value. */
  samples(name: string): ReadonlyMap<string, number> {
    const found = this.text.matchAll(
      new RegExp(`^${name}(?:\\{([^}]*)\\})? ([0-9.eE+-]+|NaN)$`, 'gm'),
    );
    return new Map([...found].map(([, labels = '', value]) => [labels, Number(value)]));
  }

  /** Sum of all samples whose labels contain every given text. */
  sum(name: string, ...labels: string[]): number {
    const wanted = [...this.samples(name)].filter(([text]) =>
      labels.every(label => text.includes(label)),
    );
    return wanted.reduce((sum, [, value]) => sum + value, 0);
  }
}
