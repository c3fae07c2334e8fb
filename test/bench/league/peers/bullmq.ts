import { createReadStream } from 'node:fs';
import { open } from 'node:fs/promises';
import { createInterface } from 'node:readline';
import { Queue, Worker } from 'bullmq';

/**
 * A batch as BullMQ's guide does it: a job for each line, and a worker that does so many
 * at a time.
 */
interface Line {
  readonly custom_id: string;
  readonly body: object;
}

const LINES_PER_CALL = 1000;
const [role, redisPort, file = '', baseUrl = '', atATime] = process.argv.slice(2);
const connection = {
  host: '127.0.0.1',
  port: Number(redisPort),
  maxRetriesPerRequest: null,
};

async function produce(): Promise<void> {
  const queue = new Queue<Line>('lines', { connection });
  let lines: Line[] = [];
  const add = () =>
    queue.addBulk(lines.map(data => ({ name: 'line', data, opts: { removeOnComplete: true } })));
  for await (const text of createInterface({ input: createReadStream(file) })) {
    lines.push(JSON.parse(text) as Line);
    if (lines.length < LINES_PER_CALL) continue;
    await add();
    lines = [];
  }
  await add();
  await queue.close();
}

/** An answer is in the file before its job is done, so that none is lost. */
async function work(): Promise<void> {
  const output = await open(file, 'a');
  const one = async ({ data: { custom_id, body } }: { readonly data: Line }): Promise<void> => {
    const headers = { 'content-type': 'application/json' };
    const response = await fetch(`${baseUrl}/chat/completions`, {
      method: 'POST',
      headers,
      body: JSON.stringify(body),
    });
    if (!response.ok) throw new Error(`status ${response.status}`);
    await output.appendFile(`${JSON.stringify({ custom_id, response: await response.json() })}\n`);
  };
  const worker = new Worker<Line>('lines', one, {
    connection,
    concurrency: Number(atATime),
  });
  process.once('SIGTERM', () => void worker.close().then(() => process.exit(0)));
}

await (role === 'produce' ? produce() : work());
