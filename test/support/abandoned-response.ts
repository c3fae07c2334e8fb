import { type INestApplicationContext } from '@nestjs/common';
import { IgnoredFields } from '../../src/contracts/openai/ignored-fields.js';
import { type ResponseObject } from '../../src/contracts/openai/responses.js';
import { ModelCatalog } from '../../src/gateway/models/model-catalog.js';
import { parseResponse } from '../../src/gateway/responses/parse/parse-response.js';
import { OpenDatabase } from '../../src/platform/database/open-database.js';
import { ResponseRecordStore } from '../../src/platform/database/response-store.js';
import { StoredRequestStore } from '../../src/platform/database/stored-request-store.js';

export interface AbandonedResponse {
  readonly tenant: string;
  readonly id: string;
  /** Of `POST /v1/responses`. */
  readonly body: Readonly<Record<string, unknown>>;
  /** As it is after the events. */
  readonly response: ResponseObject;
  /** As they are stored. */
  readonly events: readonly string[];
  /** Gateways that died over it. */
  readonly attempts: number;
}

/**
 * Writes what a gateway leaves that is killed after these events of a
 * background response.
 */
export async function abandonResponse(
  app: INestApplicationContext,
  left: AbandonedResponse,
): Promise<void> {
  const { tenant, id, body, response, events, attempts } = left;
  const records = app.get(ResponseRecordStore, { strict: false });
  const requests = app.get(StoredRequestStore, { strict: false });
  const catalog = app.get(ModelCatalog, { strict: false });
  const options = {
    catalog,
    newId: (prefix: string) => `${prefix}_1`,
    stores: true,
    ignored: new IgnoredFields(),
  };
  const { request } = parseResponse(body, options);
  const work = {
    request: { ...request, stream: true },
    conversation: request.input,
    caller: {},
  };
  const times = {
    createdAtMs: Date.now() - 3_600_000,
    expiresAtMs: Date.now() + 60_000,
  };
  await records.create(
    {
      ...{ tenant, id, status: 'in_progress', chainLength: 1, chainBytes: 1, epoch: 1 },
      ...{
        request: JSON.stringify(work),
        input: '[]',
        response: JSON.stringify(response),
      },
      ...{ ...times, nextSequence: events.length },
    },
    events,
  );
  const stored = {
    ...{
      tenant,
      name: `response:${id}`,
      requestId: id,
      mode: 'async' as const,
      path: '/v1/responses/background',
    },
    ...{ fingerprint: '', headers: {}, blob: `kept/${id}`, ...times },
  } as const;
  const dead = { owner: 'dead', leaseMs: 3_600_000 };
  await requests.open({ ...stored, status: 'running' }, dead);
  // While the lease lasts: a gateway takes over what has none.
  const { db } = app.get(OpenDatabase, { strict: false });
  const { name } = stored;
  await db
    .updateTable('kept_requests')
    .set({ attempts, losses: attempts - 1 })
    .where('name', '=', name)
    .execute();
  await requests.renewLeases({ ...dead, leaseMs: 0 });
}
