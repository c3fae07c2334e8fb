import {
  FINAL_EVENTS,
  type ResponseEvent,
  type ResponseObject,
} from '../../../src/contracts/openai/responses.js';
import { deltasOf, eventsIn } from '../../support/response-client.js';
import { pause } from '../../support/waiting.js';
import {
  chatQuestion,
  jsonPost,
  type Question,
  transcriptQuestion,
} from './interactive-operations.js';
import { type Entry } from './ledger.js';
import { saidTo } from './models.js';
import { expectSame, type Operation, opened, ownId, type Turn, uniqueWords } from './operation.js';
import { deletes, expectHidden, posts, reads } from './strangers.js';

const POLL_MS = 300;
const ENDED = ['completed', 'failed', 'cancelled', 'incomplete'];

interface StoredView {
  readonly status: string;
  readonly status_code?: number;
  readonly error?: unknown;
}

/** Accepted with 202, looked up until it ends, and its answer read twice. */
export const async: Operation = async turn => {
  const { client, random } = turn;
  const question = drawQuestion(turn);
  // Half of the ids are those of the other tenant, too; it can try to reach the rest only.
  const isShared = random() < 0.5;
  const id = isShared ? turn.id : ownId(turn);
  const entry = opened({ ...turn, id }, 'async');
  if (!(await accepted(turn, entry, question, id))) return;
  if (!isShared && !(await requestHidden(turn, entry, question, id))) return;
  const view = await ended<StoredView>(turn, entry, `/v1/requests/${id}`);
  if (!view) return;
  if (view.status !== 'completed' || view.status_code !== 200)
    return client.ledger.violate(
      'lost',
      entry,
      `accepted with 202, it ended ${JSON.stringify(view).slice(0, 400)}`,
    );
  const first = await client.answered(entry, `/v1/requests/${id}/content`);
  if (
    !first ||
    !expectSame(client.ledger, entry, question.textIn(first.text) ?? first.text, question.answer)
  )
    return;
  client.ledger.complete(client.tenant);
  const second = await client.answered(entry, `/v1/requests/${id}/content`);
  if (second && expectSame(client.ledger, entry, second.text, first.text))
    client.ledger.settle(entry);
};

/**
 * Accepted with 202 and cancelled a moment later: who is told that it is cancelled never
 * gets an answer.
 */
export const cancel: Operation = async turn => {
  const { client, id, random } = turn;
  const question = drawQuestion(turn);
  const entry = opened(turn, 'cancel');
  if (!(await accepted(turn, entry, question, id))) return;
  await pause(random() * 400);
  const answer = await client.answered(entry, `/v1/requests/${id}/cancel`, {
    method: 'POST',
  });
  if (!answer) return;
  const { cancelled } = JSON.parse(answer.text) as { cancelled: boolean };
  const view = await ended<StoredView>(turn, entry, `/v1/requests/${id}`);
  if (!view) return;
  if (cancelled && view.status === 'completed')
    return client.ledger.violate(
      'twice',
      entry,
      '`cancelled: true` was answered, and it completed',
    );
  if (view.status === 'failed')
    return client.ledger.violate('lost', entry, `it ended ${JSON.stringify(view).slice(0, 400)}`);
  if (view.status === 'completed') client.ledger.complete(client.tenant);
  else client.ledger.cancel(client.tenant);
  client.ledger.settle(entry);
};

/** A response in the background whose stream breaks off here and there and is resumed. */
export const background: Operation = async turn => {
  const { client } = turn;
  const input = uniqueWords(turn);
  const entry = opened(turn, 'background');
  const metadata = { tenant: client.tenant, turn: turn.id };
  const body = { model: 'synthetic-llm', input, background: true, temperature: 0, metadata };
  const made = await client.answered(
    entry,
    '/v1/responses',
    jsonPost(body, { 'x-request-id': turn.id }),
  );
  if (!made) return;
  const { id } = JSON.parse(made.text) as ResponseObject;
  if (!(await responseHidden(turn, entry, id))) return;
  const events = await client.repeated(entry, `the events of ${id}`, follower(turn, entry, id));
  if (!events) return;
  const last = events.at(-1)!;
  if (last.type !== 'response.completed')
    return client.ledger.violate(
      'lost',
      entry,
      `the response ended ${JSON.stringify(last).slice(0, 400)}`,
    );
  client.ledger.complete(client.tenant);
  if (!expectSame(client.ledger, entry, deltasOf(events), saidTo(input))) return;
  if (!expectSame(client.ledger, entry, sorted(last.response.metadata), sorted(metadata))) return;
  if (await storedAsSaid(turn, entry, last.response, input)) client.ledger.settle(entry);
};

/** What is read is what its events said and what was asked, until it is deleted. */
async function storedAsSaid(
  turn: Turn,
  entry: Entry,
  said: ResponseObject,
  input: string,
): Promise<boolean> {
  const { client, random } = turn;
  const path = `/v1/responses/${said.id}`;
  const found = await ended<ResponseObject>(turn, entry, path);
  if (!found || !expectSame(client.ledger, entry, sorted(found), sorted(said))) return false;
  const items = await client.answered(entry, `${path}/input_items`);
  if (!items) return false;
  const { data } = JSON.parse(items.text) as { data: { content: { text: string }[] }[] };
  const asked = data.flatMap(({ content }) => content.map(({ text }) => text)).join();
  if (!expectSame(client.ledger, entry, asked, input)) return false;
  if (random() < 0.5) return true;
  // A first attempt whose answer was lost has deleted it.
  if (!(await client.answered(entry, path, { method: 'DELETE' }, [404]))) return false;
  const gone = await client.answered(entry, path, {}, [404]);
  return gone !== undefined && expectSame(client.ledger, entry, `${gone.status}`, '404');
}

/** Fields in one order. */
const sorted = (value: unknown): string =>
  JSON.stringify(value, (_, field: unknown) =>
    field !== null && typeof field === 'object' && !Array.isArray(field)
      ? Object.fromEntries(Object.entries(field).sort(([a], [b]) => (a < b ? -1 : 1)))
      : field,
  );

const drawQuestion = (turn: Turn): Question =>
  [
    transcriptQuestion,
    (t: Turn) => chatQuestion(t, 'synthetic-llm'),
    (t: Turn) => chatQuestion(t, 'upstream'),
  ][Math.floor(turn.random() * 3)]!(turn);

async function accepted(
  { client }: Turn,
  entry: Entry,
  { path, sent }: Question,
  id: string,
): Promise<boolean> {
  const headers = {
    ...sent.headers,
    ...{ prefer: 'respond-async', 'idempotency-key': id, 'x-request-id': id },
  };
  const answer = await client.answered(entry, path, { ...sent, headers });
  if (!answer || answer.status === 202) return answer !== undefined;
  client.ledger.violate(
    'wrong',
    entry,
    `202 was due; answered ${answer.status} ${answer.text.slice(0, 200)}`,
  );
  return false;
}

function requestHidden(turn: Turn, entry: Entry, { path }: Question, id: string): Promise<boolean> {
  const request = `/v1/requests/${id}`;
  const tries = [
    ...[reads(request), reads(`${request}/content`), reads(`${request}/explain`)],
    posts(`${request}/cancel`),
    ...(path.startsWith('/v1/audio') ? [posts(`${path}/${id}/cancel`)] : []),
  ];
  return expectHidden(turn, entry, id, { tries });
}

function responseHidden(turn: Turn, entry: Entry, id: string): Promise<boolean> {
  const response = `/v1/responses/${id}`;
  const goOn = { model: 'synthetic-llm', input: 'Go on.', previous_response_id: id };
  const tries = [
    ...[reads(response), reads(`${response}?stream=true`), reads(`${response}/input_items`)],
    ...[posts(`${response}/cancel`), deletes(response), posts('/v1/responses', goOn)],
  ];
  return expectHidden(turn, entry, id, { tries });
}

function ended<T extends { readonly status?: string | null }>(
  { client }: Turn,
  entry: Entry,
  path: string,
): Promise<T | undefined> {
  return client.repeated(entry, `${path} until it ends`, async () => {
    const answer = await client.answered(entry, path);
    if (!answer) return 'broken';
    const view = JSON.parse(answer.text) as T;
    if (ENDED.includes(view.status ?? '')) return view;
    await pause(POLL_MS);
    return undefined;
  });
}

/**
 * Each call takes what comes until the stream ends or this caller leaves; numbers go on
 * without gap or repeat.
 */
function follower({ client, random }: Turn, entry: Entry, id: string) {
  const events: ResponseEvent[] = [];
  return async (): Promise<readonly ResponseEvent[] | undefined | 'broken'> => {
    const leaving = new AbortController();
    const sinceMs = client.ledger.nowMs;
    const what = `the events of ${id} of ${client.tenant}`;
    const stay = Math.floor(5 + random() * 120);
    const after = events.length === 0 ? '' : `&starting_after=${events.length - 1}`;
    try {
      const stream = await client.open(
        `/v1/responses/${id}?stream=true${after}`,
        {},
        leaving.signal,
      );
      if (stream.status !== 200) {
        const answer = {
          status: stream.status,
          headers: stream.headers,
          text: await stream.text(),
        };
        return client.mayRepeat(entry, `the events of ${id}`, answer) ? undefined : 'broken';
      }
      let taken = 0;
      for await (const event of eventsIn(stream)) {
        // The stream goes no further; its number is that of the event before it.
        if (event.type === 'error' && event.sequence_number === events.length - 1) return undefined;
        if (event.sequence_number !== events.length) {
          const numbers = `number ${event.sequence_number} came where ${events.length} was due`;
          client.ledger.violate(
            'wrong',
            entry,
            `${numbers}: ${JSON.stringify(event).slice(0, 200)}`,
          );
          return 'broken';
        }
        events.push(event);
        if (FINAL_EVENTS.has(event.type)) return events;
        if (++taken === stay) return undefined;
      }
      client.noteUnanswered(what, sinceMs);
    } catch (error) {
      client.noteUnanswered(what, sinceMs, error);
    } finally {
      leaving.abort();
    }
    return undefined;
  };
}
