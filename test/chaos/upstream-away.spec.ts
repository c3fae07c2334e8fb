import { expect, it } from '@jest/globals';
import { upstreamLlm } from '../integration/generation/generation-rig.js';
import { chatLine } from '../support/batch-harness.js';
import { freePort } from '../support/free-port.js';
import { GatewayProcess } from '../support/gateway-process.js';
import { OpenAiUpstream } from '../support/openai-upstream.js';
import { ResponseClient } from '../support/response-client.js';
import { temporaryFolder } from '../support/temporary-folder.js';
import { pause, until } from '../support/waiting.js';

/**
 * `CHAOS_AWAY_S=75` for the case of the finding: longer than the back-off of any retry,
 * within `queue.timeout_ms`.
 */
const AWAY_S = Number(process.env.CHAOS_AWAY_S ?? 4);
const LINES = 600;
const CALLS = 20;
const MODEL = 'upstream-llm';
const LIMIT_MS = 180_000 + AWAY_S * 1000;

interface Status {
  readonly status: string;
}
interface Batch extends Status {
  readonly id: string;
  readonly request_counts: { readonly completed: number; readonly failed: number };
}

it(
  `an upstream that is away for ${AWAY_S} s under load costs 0 of ${LINES} lines, 0 of ${CALLS} async requests, 0 of ${CALLS} background responses`,
  async () => {
    const folder = temporaryFolder();
    const port = await freePort();
    const serve = () => OpenAiUpstream.start({ models: ['its/own-name'], port });
    let upstream = await serve();
    const gateway = await GatewayProcess.start(
      [upstreamLlm(upstream)],
      { 'batch.embedded': 'true' },
      { folder },
    );
    try {
      const url = `http://127.0.0.1:${gateway.port}`;
      const get = async <T>(path: string): Promise<T> =>
        (await (await fetch(url + path)).json()) as T;
      const post = (path: string, body: object, headers = {}): Promise<Response> =>
        fetch(url + path, {
          method: 'POST',
          headers: { 'content-type': 'application/json', ...headers },
          body: JSON.stringify(body),
        });
      const batch = await submitted(url, post);
      await until(() => upstream.posts.length >= 200);
      await upstream[Symbol.asyncDispose]();

      const chat = { model: MODEL, messages: [{ role: 'user', content: 'one two' }] };
      const ids = Array.from({ length: CALLS }, (_, index) => `later-${index}`);
      for (const id of ids) {
        const { status } = await post('/v1/chat/completions', chat, {
          prefer: 'respond-async',
          'x-request-id': id,
        });
        expect(status).toBe(202);
      }
      const client = new ResponseClient(url);
      const responses = await Promise.all(
        ids.map(input => client.created(input, { model: MODEL, background: true })),
      );
      const waiting = Promise.all(ids.map(() => post('/v1/chat/completions', chat)));
      await pause(AWAY_S * 1000);
      upstream = await serve();

      expect((await waiting).map(({ status }) => status)).toEqual(ids.map(() => 200));
      const ended = (path: string, ends: readonly string[]) => async () =>
        ends.includes((await get<Status>(path)).status);
      for (const id of ids) {
        await until(ended(`/v1/requests/${id}`, ['completed', 'failed']));
        expect(await get(`/v1/requests/${id}`)).toMatchObject({ status: 'completed' });
      }
      for (const { id } of responses) {
        await until(ended(`/v1/responses/${id}`, ['completed', 'failed', 'incomplete']));
        expect(await get(`/v1/responses/${id}`)).toMatchObject({ status: 'completed' });
      }
      await until(ended(`/v1/batches/${batch}`, ['completed', 'failed', 'expired']));
      expect((await get<Batch>(`/v1/batches/${batch}`)).request_counts).toMatchObject({
        completed: LINES,
        failed: 0,
      });
    } finally {
      await gateway[Symbol.asyncDispose]();
      await upstream[Symbol.asyncDispose]();
    }
  },
  LIMIT_MS,
);

async function submitted(
  url: string,
  post: (path: string, body: object) => Promise<Response>,
): Promise<string> {
  const form = new FormData();
  form.set('purpose', 'batch');
  const lines = Array.from(
    { length: LINES },
    (_, index) => `${chatLine(`line-${index}`, MODEL)}\n`,
  );
  form.set('file', new Blob(lines), 'lines.jsonl');
  const file = (await (await fetch(`${url}/v1/files`, { method: 'POST', body: form })).json()) as {
    id: string;
  };
  const order = {
    input_file_id: file.id,
    endpoint: '/v1/chat/completions',
    completion_window: '24h',
  };
  return ((await (await post('/v1/batches', order)).json()) as Batch).id;
}
