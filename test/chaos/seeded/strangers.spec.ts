import { once } from 'node:events';
import { createServer } from 'node:http';
import { expect, it } from '@jest/globals';
import { freePort } from '../../support/free-port.js';
import { pause } from '../../support/waiting.js';
import { Ledger } from './ledger.js';
import { type Turn } from './operation.js';
import { expectHidden, reads } from './strangers.js';
import { TenantClient } from './tenant-client.js';

const CALLERS = 12;
/** A system closes the connections of a killed process before it closes the port. */
const DYING_MS = 20;

it('a gateway that is killed breaks one attempt of each caller, though its port takes connections a moment longer', async () => {
  const port = await freePort();
  let held = 0;
  const arrived = Promise.withResolvers<void>();
  const server = createServer(request => {
    if (++held > CALLERS) request.socket.destroy();
    else if (held === CALLERS) arrived.resolve();
  }).listen(port, '127.0.0.1');
  await once(server, 'listening');
  const ledger = new Ledger();
  const client = new TenantClient({
    ...{ url: `http://127.0.0.1:${port}`, tenant: 'acme', key: 'k', ledger },
    ...{ limitMs: 1000, isShared: false, isCalm: false },
  });
  const turn = { client, stranger: client } as unknown as Turn;
  const tries = ['/a', '/b', '/c'].map(reads);
  const all = Array.from({ length: CALLERS }, (_, caller) =>
    expectHidden(turn, ledger.open('acme', 'async', `${caller}`), `${caller}`, { tries }),
  );
  await arrived.promise;
  ledger.interrupted('any');
  server.closeAllConnections();
  await pause(DYING_MS);
  server.close();
  await Promise.all(all);
  ledger.boundUnanswered(CALLERS);
  expect(ledger.violations).toEqual([]);
  expect(ledger.unanswered).toBe(CALLERS * tries.length);
});
