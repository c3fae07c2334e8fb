import { type BatchStatus } from '../../../src/core/jobs/batch-status.js';
import { pause } from '../../support/waiting.js';
import { jsonPost } from './interactive-operations.js';
import { type Entry } from './ledger.js';
import { saidTo } from './models.js';
import { expectSame, type Operation, opened, type Turn, uniqueWords } from './operation.js';

const POLL_MS = 500;
const OVER: readonly BatchStatus[] = ['completed', 'failed', 'expired', 'cancelled'];

interface BatchView {
  readonly id: string;
  readonly status: BatchStatus;
  readonly request_counts: {
    readonly total: number;
    readonly completed: number;
    readonly failed: number;
  };
  readonly output_file_id?: string | null;
  readonly error_file_id?: string | null;
}

interface OutputLine {
  readonly custom_id: string;
  readonly response: {
    readonly body: {
      readonly choices?: { readonly message: { readonly content: string } }[];
    };
  } | null;
}

/** Stored, read back, hidden from others, deleted. */
export const file: Operation = async turn => {
  const { client, stranger } = turn;
  const content = `file of ${uniqueWords(turn, 40)}`;
  const entry = opened(turn, 'file');
  const id = await stored(turn, entry, 'user_data', content);
  if (!id) return;
  const seen = await stranger.attempt(`/v1/files/${id}/content`);
  if (seen?.status === 200)
    return client.ledger.violate('tenant', entry, `${stranger.tenant} reads the file`);
  const read = await client.answered(entry, `/v1/files/${id}/content`);
  if (!read || !expectSame(client.ledger, entry, read.text, content)) return;
  // A first attempt whose answer was lost has deleted it.
  const gone = await client.answered(entry, `/v1/files/${id}`, { method: 'DELETE' }, [404]);
  if (gone) client.ledger.settle(entry);
};

/** Each line once, in the output file, with the answer to its own words. */
export const batch: Operation = async turn => {
  const { client, random } = turn;
  const lines = Array.from({ length: 15 + Math.floor(random() * 25) }, (_, index) =>
    lineOf(turn, index),
  );
  const entry = opened(turn, 'batch');
  const input = await stored(turn, entry, 'batch', lines.map(({ json }) => json).join('\n'));
  if (!input) return;
  const fields = {
    input_file_id: input,
    endpoint: '/v1/chat/completions',
    completion_window: '24h',
  };
  const made = await client.answered(entry, '/v1/batches', jsonPost(fields));
  const view = made && (await whole(turn, entry, (JSON.parse(made.text) as BatchView).id));
  if (!view) return;
  const counts = { total: lines.length, completed: lines.length, failed: 0 };
  if (view.status !== 'completed' || JSON.stringify(view.request_counts) !== JSON.stringify(counts))
    return client.ledger.violate(
      'lost',
      entry,
      `${await problem(turn, view)}; wanted ${JSON.stringify(counts)}`,
    );
  const output = await client.answered(entry, `/v1/files/${view.output_file_id!}/content`);
  if (output && expectSame(client.ledger, entry, answersIn(output.text), wanted(lines)))
    client.ledger.settle(entry);
};

interface Line {
  readonly id: string;
  readonly json: string;
  readonly answer: string;
}

function lineOf(turn: Turn, index: number): Line {
  const content = uniqueWords({ ...turn, id: `${turn.id}-${index}` });
  const model = turn.random() < 0.7 ? 'synthetic-llm' : 'upstream';
  const body = {
    model,
    max_tokens: 12,
    temperature: 0,
    messages: [{ role: 'user', content }],
  };
  return {
    id: `line-${index}`,
    json: JSON.stringify({
      custom_id: `line-${index}`,
      method: 'POST',
      url: '/v1/chat/completions',
      body,
    }),
    answer: model === 'upstream' ? content : saidTo(content, 12),
  };
}

const wanted = (lines: readonly Line[]): string =>
  lines
    .map(({ id, answer }) => `${id}: ${answer}`)
    .sort()
    .join('\n');

const answersIn = (jsonl: string): string =>
  jsonl
    .trim()
    .split('\n')
    .map(line => JSON.parse(line) as OutputLine)
    .map(
      ({ custom_id, response }) => `${custom_id}: ${response?.body.choices?.[0]?.message.content}`,
    )
    .sort()
    .join('\n');

async function stored(
  { client }: Turn,
  entry: Entry,
  purpose: string,
  content: string,
): Promise<string | undefined> {
  const body = new FormData();
  body.set('purpose', purpose);
  body.set('file', new Blob([content]), 'file.jsonl');
  const answer = await client.answered(entry, '/v1/files', { method: 'POST', body });
  return answer && (JSON.parse(answer.text) as { id: string }).id;
}

function whole({ client }: Turn, entry: Entry, id: string): Promise<BatchView | undefined> {
  return client.repeated(entry, `batch ${id} until it ends`, async () => {
    const answer = await client.answered(entry, `/v1/batches/${id}`);
    if (!answer) return 'broken';
    const view = JSON.parse(answer.text) as BatchView;
    if (OVER.includes(view.status)) return view;
    await pause(POLL_MS);
    return undefined;
  });
}

async function problem({ client }: Turn, view: BatchView): Promise<string> {
  const errors = view.error_file_id
    ? await client.attempt(`/v1/files/${view.error_file_id}/content`)
    : undefined;
  return `${view.id} ended ${view.status} ${JSON.stringify(view.request_counts)}, errors ${errors?.text.slice(0, 600)}`;
}
