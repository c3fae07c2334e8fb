import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { type ResponseEvent } from '../../src/contracts/openai/responses.js';
import { syntheticText } from '../../src/worker/engines/synthetic/recognizer.js';
import { formOf } from '../support/form-of.js';
import { GatewayProcess } from '../support/gateway-process.js';
import { PostgresServer } from '../support/postgres-server.js';
import { describeWith, POSTGRES } from '../support/requires.js';
import {
  countFrom,
  deltasOf,
  eventsIn,
  numbersOf,
  ResponseClient,
  taken,
  textOf,
} from '../support/response-client.js';
import { syntheticModel } from '../support/synthetic-model.js';
import { temporaryFolder } from '../support/temporary-folder.js';
import { pause } from '../support/waiting.js';

/**
 * `CHAOS_FREEZES=45,60` for the long ones, beyond the lease and beyond the retries
 * of callers; seconds.
 */
const SECONDS = (process.env.CHAOS_FREEZES ?? '5,20').split(',').map(Number);
const REQUESTS = 50;
const RESPONSES = 20;
const MODELS = [
  syntheticModel({ baseMs: 1500, maxBatch: 4 }),
  syntheticModel(
    { tokens: 120, perTokenMs: 25, maxConcurrent: 4 },
    { id: 'synthetic-llm', kind: 'llm', capabilities: ['chat', 'completions'] },
  ),
];
const WORDS = 'whatever was computed is delivered';
/**
 * What the engine is told of a request that says nothing else: task, language,
 * prompt, temperature.
 */
const CONDITIONS = ['transcribe', '', '', '0'];

let folder: string;
let postgres: PostgresServer;
let gateways: GatewayProcess[];

/** Two gateways with default settings, one database and one blob store. */
beforeAll(async () => {
  folder = temporaryFolder();
  postgres = await PostgresServer.start();
  gateways = [];
  for (const name of ['one', 'other']) {
    const own = join(folder, name);
    await mkdir(own);
    const shared = { 'database.url': postgres.url(), 'data.dir': join(folder, 'data') };
    gateways.push(
      await GatewayProcess.start(MODELS, shared, {
        folder: own,
        clone: process.env.CHAOS_CLONE ?? undefined,
      }),
    );
  }
}, 120_000);
afterAll(async () => {
  for (const gateway of gateways) await gateway[Symbol.asyncDispose]();
  await postgres[Symbol.asyncDispose]();
}, 120_000);

const url = (at: number): string => `http://127.0.0.1:${gateways[at]!.port}`;
const audioOf = (id: string): Buffer => Buffer.from(`audio of ${id}`);

async function accept(id: string): Promise<void> {
  const body = formOf({ model: 'synthetic' }, audioOf(id));
  const headers = { prefer: 'respond-async', 'x-request-id': id };
  const answer = await fetch(`${url(0)}/v1/audio/transcriptions`, {
    method: 'POST',
    body,
    headers,
  });
  expect([answer.status, id]).toEqual([202, id]);
}

interface RequestState {
  readonly status: string;
  readonly status_code?: number;
  readonly result?: { readonly text: string };
}

/** Status, and whether head and bytes are its own. */
async function outcome(id: string): Promise<string> {
  const view = (await (await fetch(`${url(1)}/v1/requests/${id}`)).json()) as RequestState;
  if (!['completed', 'failed', 'cancelled'].includes(view.status)) return 'open';
  const content = await fetch(`${url(0)}/v1/requests/${id}/content`);
  const { text, error } = (await content.json()) as {
    text?: string;
    error?: { code: string };
  };
  if (error) return `${view.status}: ${error.code}`;
  const isOwn = content.status === 200 && view.status_code === 200 && view.result?.text === text;
  return isOwn && text === syntheticText(audioOf(id), CONDITIONS)
    ? view.status
    : `${view.status}, mixed`;
}

async function outcomes(
  ids: readonly string[],
  of: (id: string) => Promise<string>,
): Promise<Record<string, number>> {
  const counts: Record<string, number> = {};
  for (const id of ids) {
    let seen = await of(id);
    for (; seen === 'open'; seen = await of(id)) await pause(200);
    counts[seen] = (counts[seen] ?? 0) + 1;
  }
  return counts;
}

const FREEZES = {
  PostgreSQL: { stop: () => postgres.freeze(), go: () => postgres.thaw() },
  'the gateway that runs it': {
    stop: () => gateways[0]!.process.child.kill('SIGSTOP'),
    go: () => gateways[0]!.process.child.kill('SIGCONT'),
  },
};
const CASES = Object.keys(FREEZES).flatMap(what =>
  SECONDS.map(seconds => [what as keyof typeof FREEZES, seconds]),
);

describeWith(POSTGRES)('accepted work, with default settings', () => {
  it.each(CASES as [keyof typeof FREEZES, number][])(
    `all ends completed, with its own answer, while %s is stopped for %i s`,
    async (what, seconds) => {
      const client = new ResponseClient(url(0));
      const undisturbed = textOf(await client.created(WORDS));
      const ids = Array.from({ length: REQUESTS }, (_, index) => `${index}-${what[0]}-${seconds}`);
      await Promise.all(ids.map(accept));
      const responses = await Promise.all(
        Array.from(
          { length: RESPONSES },
          async () => (await client.created(WORDS, { background: true })).id,
        ),
      );
      FREEZES[what].stop();
      // The time is what this is about: leases lapse, statements time
      // out, connections break.
      await pause(seconds * 1000);
      FREEZES[what].go();
      const counts = {
        requests: await outcomes(ids, outcome),
        responses: await outcomes(responses, async id => {
          const found = await client.found(id);
          if (['queued', 'in_progress'].includes(found.status)) return 'open';
          return textOf(found) === undisturbed ? found.status : `${found.status}, mixed`;
        }),
      };
      process.stderr.write(`\n${what}, ${seconds} s: ${JSON.stringify(counts)}\n`);
      expect(counts).toEqual({
        requests: { completed: REQUESTS },
        responses: { completed: RESPONSES },
      });
    },
    300_000,
  );
});

describeWith(POSTGRES)('a followed response', () => {
  it('ends with one error while PostgreSQL is silent, and goes on behind it afterwards', async () => {
    const client = new ResponseClient(url(0));
    const undisturbed = textOf(await client.created(WORDS));
    const seen: ResponseEvent[] = [];
    const stream = await client.create(WORDS, { background: true, stream: true });
    for await (const event of eventsIn(stream)) {
      seen.push(event);
      if (event.type === 'response.output_text.delta') postgres.freeze();
    }
    postgres.thaw();
    const before = seen.filter(({ type }) => type !== 'error');
    const last = before.length - 1;
    expect(seen.slice(before.length)).toEqual([
      {
        type: 'error',
        error: expect.objectContaining({ code: 'storage_unavailable' }),
        sequence_number: last,
      },
    ]);
    const { id } = (seen[0] as Extract<ResponseEvent, { response: unknown }>).response;
    const all = [...before, ...(await taken(client.follow(id, last)))];
    expect(numbersOf(all)).toEqual(countFrom(0, all.length));
    expect(all.at(-1)).toMatchObject({ type: 'response.completed' });
    expect(deltasOf(all)).toBe(undisturbed);
  });
});
