import { type BatchStatus } from '../../../src/core/jobs/batch-status.js';
import { pause } from '../../support/waiting.js';
import { jsonPost } from './interactive-operations.js';
import { type Entry } from './ledger.js';
import { saidTo } from './models.js';
import { expectSame, type Operation, opened, type Turn, uniqueWords } from './operation.js';
import { deletes, expectHidden, posts, reads } from './strangers.js';

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

/** Stored, hidden from others, read back byte by byte, deleted. */
export const file: Operation = async turn => {
  const { client, random } = turn;
  const content = Buffer.concat([
    Buffer.from(`file of ${uniqueWords(turn, 40)}`),
    Buffer.from(Array.from({ length: 4000 }, () => Math.floor(random() * 256))),
  ]);
  const entry = opened(turn, 'file');
  const made = await stored(turn, entry, 'user_data', content);
  if (!made || !(await fileHidden(turn, entry, made.id))) return;
  const path = `/v1/files/${made.id}`;
  const view = await client.answered(entry, path);
  if (!view || !expectSame(client.ledger, entry, view.text, made.text)) return;
  if (!expectSame(client.ledger, entry, fieldsOf(view.text), wantedFields(content.length))) return;
  const read = await client.answered(entry, `${path}/content`);
  if (!read || !expectSame(client.ledger, entry, hex(read.bytes), hex(content))) return;
  // A first attempt whose answer was lost has deleted it.
  if (!(await client.answered(entry, path, { method: 'DELETE' }, [404]))) return;
  const gone = await client.answered(entry, path, {}, [404]);
  if (gone && expectSame(client.ledger, entry, `${gone.status}`, '404'))
    client.ledger.settle(entry);
};

const NAME = 'file.jsonl';

const hex = (bytes: Buffer): string => bytes.toString('hex');
const wantedFields = (bytes: number): string => JSON.stringify([NAME, 'user_data', bytes]);

function fieldsOf(json: string): string {
  const { filename, purpose, bytes } = JSON.parse(json) as Record<string, unknown>;
  return JSON.stringify([filename, purpose, bytes]);
}

function fileHidden(turn: Turn, entry: Entry, id: string): Promise<boolean> {
  const path = `/v1/files/${id}`;
  const tries = [
    ...[reads(path), reads(`${path}/content`), deletes(path)],
    posts('/v1/batches', batchFields(id, turn)),
  ];
  return expectHidden(turn, entry, id, { tries, lists: ['/v1/files?limit=100'] });
}

function batchHidden(turn: Turn, entry: Entry, id: string): Promise<boolean> {
  const path = `/v1/batches/${id}`;
  const tries = [
    ...[reads(path), deletes(path)],
    ...[posts(`${path}/cancel`), posts(`${path}/retry-failed`)],
  ];
  return expectHidden(turn, entry, id, { tries, lists: ['/v1/batches?limit=100'] });
}

const batchFields = (input: string, { client, id }: Turn): object => ({
  input_file_id: input,
  endpoint: '/v1/chat/completions',
  completion_window: '24h',
  metadata: { tenant: client.tenant, turn: id },
});

/** Each line once, in the output file, with the answer to its own words. */
export const batch: Operation = async turn => {
  const { client, random } = turn;
  const lines = Array.from({ length: 15 + Math.floor(random() * 25) }, (_, index) =>
    lineOf(turn, index),
  );
  const entry = opened(turn, 'batch');
  const input = await stored(turn, entry, 'batch', lines.map(({ json }) => json).join('\n'));
  if (!input) return;
  const fields = batchFields(input.id, turn);
  const made = await client.answered(entry, '/v1/batches', jsonPost(fields));
  const id = made && (JSON.parse(made.text) as BatchView).id;
  if (!id || !(await batchHidden(turn, entry, id))) return;
  const view = await whole(turn, entry, id);
  if (!view) return;
  const kept = Object.keys(fields).map(name => [name, view[name as keyof BatchView]]);
  const asked = JSON.stringify(fields);
  if (!expectSame(client.ledger, entry, JSON.stringify(Object.fromEntries(kept)), asked)) return;
  const counts = { total: lines.length, completed: lines.length, failed: 0 };
  if (view.status !== 'completed' || JSON.stringify(view.request_counts) !== JSON.stringify(counts))
    return client.ledger.violate(
      'lost',
      entry,
      `${await problem(turn, view)}; wanted ${JSON.stringify(counts)}`,
    );
  client.ledger.complete(client.tenant, lines.length);
  if (!(await fileHidden(turn, entry, view.output_file_id!))) return;
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

/** Whole, or in two parts. */
async function stored(
  turn: Turn,
  entry: Entry,
  purpose: string,
  content: string | Buffer<ArrayBuffer>,
): Promise<{ readonly id: string; readonly text: string } | undefined> {
  const { client, random } = turn;
  if (typeof content !== 'string' && random() < 0.3) return inParts(turn, entry, content);
  const body = new FormData();
  body.set('purpose', purpose);
  body.set('file', new Blob([content]), NAME);
  const answer = await client.answered(entry, '/v1/files', { method: 'POST', body });
  return answer && { id: idIn(answer.text), text: answer.text };
}

async function inParts(
  turn: Turn,
  entry: Entry,
  content: Buffer<ArrayBuffer>,
): Promise<{ readonly id: string; readonly text: string } | undefined> {
  const { client } = turn;
  const order = { purpose: 'user_data', filename: NAME, bytes: content.length };
  const begun = await client.answered(
    entry,
    '/v1/uploads',
    jsonPost({ ...order, mime_type: 'application/octet-stream' }),
  );
  if (!begun) return undefined;
  const path = `/v1/uploads/${idIn(begun.text)}`;
  const tries = [posts(`${path}/complete`, { part_ids: ['part_1'] }), posts(`${path}/cancel`)];
  if (!(await expectHidden(turn, entry, path, { tries }))) return undefined;
  const parts: string[] = [];
  for (const part of [content.subarray(0, 1000), content.subarray(1000)]) {
    const body = new FormData();
    body.set('data', new Blob([part]));
    const added = await client.answered(entry, `${path}/parts`, { method: 'POST', body });
    if (!added) return undefined;
    parts.push(idIn(added.text));
  }
  const completion = jsonPost({ part_ids: parts });
  const made = await client.answered(entry, `${path}/complete`, completion, [400]);
  if (!made) return undefined;
  // A first attempt whose answer was lost has made a file, whose id this caller never learns.
  if (made.status === 400) return void client.ledger.settle(entry);
  const { file: view } = JSON.parse(made.text) as { file: { id: string } };
  return { id: view.id, text: JSON.stringify(view) };
}

const idIn = (json: string): string => (JSON.parse(json) as { id: string }).id;

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
