import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

/**
 * The bare peer of `batch-ingest`: what one writes first. It reads the whole file, parses
 * every line, checks what must be there, keeps the requests, sorts them by system prompt
 * and writes them out. Started as a process by the bench, twice told: ready, then how
 * long it took.
 */
interface Line {
  readonly custom_id: string;
  readonly method: string;
  readonly url: string;
  readonly body: {
    readonly model: string;
    readonly messages: readonly { role: string; content: string }[];
  };
}

process.on('message', ({ input, folder }: { input: string; folder: string }) => {
  void ingest(input, folder).then(report => process.send?.({ type: 'done', ...report }));
});
process.on('disconnect', () => process.exit(0));
process.on('SIGTERM', () => process.exit(0));
process.send?.({ type: 'ready' });

async function ingest(input: string, folder: string): Promise<{ lines: number; tookMs: number }> {
  const startMs = performance.now();
  const lines = (await readFile(input, 'utf8'))
    .split('\n')
    .filter(Boolean)
    .map(text => JSON.parse(text) as Line);
  const ids = new Set<string>();
  const byModel = new Map<string, Line[]>();
  for (const line of lines) {
    if (ids.has(line.custom_id) || line.method !== 'POST' || !line.url)
      throw new Error(`bad line ${line.custom_id}`);
    ids.add(line.custom_id);
    const requests = byModel.get(line.body.model);
    if (requests) requests.push(line);
    else byModel.set(line.body.model, [line]);
  }
  for (const [model, requests] of byModel) {
    requests.sort((a, b) => a.body.messages[0]!.content.localeCompare(b.body.messages[0]!.content));
    await writeFile(
      join(folder, `${model}.jsonl`),
      requests.map(request => JSON.stringify(request)).join('\n'),
    );
  }
  return { lines: lines.length, tookMs: performance.now() - startMs };
}
