import { once } from 'node:events';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from '@jest/globals';
import { type ResponseEvent } from '../../src/contracts/openai/responses.js';
import { GatewayProcess } from '../support/gateway-process.js';
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

const WORDS = 'every word of this answer is stored before it is sent to anybody';
const MODEL = syntheticModel(
  { tokens: 120, perTokenMs: 25, maxConcurrent: 8 },
  { id: 'synthetic-llm', kind: 'llm', capabilities: ['chat', 'completions'] },
);
const RESPONSES = 3;

let folder: string;
const gateways: GatewayProcess[] = [];
afterEach(async () => {
  for (const gateway of gateways.splice(0)) await gateway[Symbol.asyncDispose]();
});

/**
 * Gateways with workers of their own, one database and one blob store, as replicas have.
 */
async function start(count: number): Promise<ResponseClient[]> {
  folder = temporaryFolder();
  for (let index = 0; index < count; index++) {
    const own = join(folder, `gateway-${index}`);
    await mkdir(own);
    // Each gateway is killed in turn: a lease of the default length would be waited
    // for each time.
    const shared = { 'data.dir': join(folder, 'data'), 'requests.lease_ms': 1000 };
    gateways.push(await GatewayProcess.start([MODEL], shared, { folder: own }));
  }
  return gateways.map(({ port }) => new ResponseClient(`http://127.0.0.1:${port}`));
}

async function kill({ process: { child } }: GatewayProcess): Promise<void> {
  const exited = once(child, 'exit');
  child.kill('SIGKILL');
  await exited;
}

/**
 * Streams background responses; in the middle of all of them `strike` happens. @returns
 * what their callers received
 */
async function struck(
  client: ResponseClient,
  strike: () => Promise<void>,
): Promise<ResponseEvent[][]> {
  const streams = Array.from({ length: RESPONSES }, (): ResponseEvent[] => []);
  let strikes: Promise<void> | undefined;
  const isAmid = () => streams.every(events => deltasOf(events).length > 60);
  await Promise.all(
    streams.map(async events => {
      for await (const event of eventsIn(
        await client.create(WORDS, { background: true, stream: true }),
      )) {
        events.push(event);
        if (isAmid()) strikes ??= strike();
      }
    }),
  );
  await strikes;
  return streams;
}

async function resumesEverything([first, second]: readonly ResponseClient[]): Promise<void> {
  const undisturbed = textOf(await first!.created(WORDS));
  for (const seen of await struck(first!, () => kill(gateways[0]!))) {
    expect(seen.at(-1)).toMatchObject({ type: 'response.output_text.delta' });
    const { id } = (seen[0] as Extract<ResponseEvent, { response: unknown }>).response;
    const rest = await taken(second!.follow(id, seen.length - 1));
    const all = [...seen, ...rest];
    expect(numbersOf(all)).toEqual(countFrom(0, all.length));
    expect(all.filter(({ type }) => type === 'response.created')).toHaveLength(1);
    expect(all.at(-1)).toMatchObject({ type: 'response.completed' });
    expect(deltasOf(all)).toBe(undisturbed);
    expect(textOf(await second!.found(id))).toBe(undisturbed);
    expect(await taken(second!.follow(id))).toEqual(all);
  }
}

describe('background responses after kill -9 of their gateway in mid-stream', () => {
  it('go on at another gateway on one embedded database, to the same texts, without gap or repeat', async () => {
    await resumesEverything(await start(2));
  }, 120_000);
});
