import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it, jest } from '@jest/globals';
import { Logger } from '@nestjs/common';
import { TargetServer, type TargetScript } from '../../../test/support/target-server.js';
import { temporaryFolder } from '../../../test/support/temporary-folder.js';
import { until } from '../../../test/support/waiting.js';
import { type OutboxEntry } from '../../core/jobs/job.ports.js';
import { settingsFrom } from '../../platform/config/settings.js';
import { type WebhookOutbox } from '../../platform/database/webhook-outbox.js';
import { type JobMetrics } from '../observe/job.metrics.js';
import { WebhookSender } from './webhook-sender.js';

Logger.overrideLogger(false);

const NOW = Date.UTC(2026, 0, 1);
const secretFile = join(temporaryFolder(), 'secret');
writeFileSync(secretFile, 'a secret of enough bytes');

const senders: WebhookSender[] = [];
afterEach(async () => {
  jest.restoreAllMocks();
  for (const sender of senders.splice(0)) await sender.stop();
});

/** A sender whose outbox has the entries of each round in turn, and then none. */
function harness(rounds: (readonly OutboxEntry[] | Error)[], allowHosts = '', secret = secretFile) {
  jest.spyOn(Date, 'now').mockReturnValue(NOW);
  jest.spyOn(Math, 'random').mockReturnValue(0.5);
  const claims: number[][] = [];
  const events: string[] = [];
  const outbox = {
    claim: (...args: number[]) => {
      claims.push(args);
      const next = rounds.shift() ?? [];
      return next instanceof Error ? Promise.reject(next) : Promise.resolve(next);
    },
    retry: (id: string, atMs: number) =>
      Promise.resolve(void events.push(`${id} again in ${(atMs - NOW) / 1000} s`)),
    remove: (id: string) => Promise.resolve(void events.push(`${id} removed`)),
  };
  const sender = new WebhookSender(
    settingsFrom({
      ...{ 'batch.webhook_secret_file': secret, 'batch.webhook_allow_hosts': allowHosts },
      'batch.poll_ms': 5,
    }),
    outbox as unknown as WebhookOutbox,
    { webhook: (outcome: string) => events.push(outcome) } as unknown as JobMetrics,
  );
  senders.push(sender);
  return { sender, claims, events };
}

const entry = (url: string, attempts = 1): OutboxEntry => ({
  ...{ id: 'evt_1', jobId: 'batch_1', type: 'batch.completed', url, attempts },
  createdAtMs: NOW - 500,
});

/** What becomes of one webhook. */
async function sent(script: TargetScript, attempts = 1, host?: string) {
  await using receiver = await TargetServer.start(script);
  const { url } = receiver;
  const { sender, claims, events } = harness(
    [new Error('away'), [entry(`${url}/hook`, attempts)]],
    host ?? new URL(url).host,
  );
  sender.start();
  sender.start();
  await until(() => events.length === 2 && claims.length > 3);
  await sender.stop();
  return { events, claims, calls: receiver.calls };
}

describe('a webhook', () => {
  it('is sent once, as an event that names the batch and when it ended', async () => {
    const { events, calls, claims } = await sent(() => ({ status: 200 }));
    expect(events).toEqual(['sent', 'evt_1 removed']);
    expect(calls).toHaveLength(1);
    expect(JSON.parse(calls[0]!.body.toString())).toEqual({
      ...{ id: 'evt_1', object: 'event', type: 'batch.completed', data: { id: 'batch_1' } },
      created_at: NOW / 1000 - 1,
    });
    // Ten at a time, hidden from other processors for a minute.
    expect(claims[0]).toEqual([NOW, 60_000, 10]);
  });

  it.each([
    [299, 1, ['sent', 'evt_1 removed']],
    [300, 1, ['retry', 'evt_1 again in 5.25 s']],
    [500, 2, ['retry', 'evt_1 again in 31.5 s']],
    [500, 7, ['retry', 'evt_1 again in 37800 s']],
    [500, 8, ['given_up', 'evt_1 removed']],
    [204, 8, ['sent', 'evt_1 removed']],
    [410, 1, ['given_up', 'evt_1 removed']],
  ])('that is answered with %i at attempt %i: %j', async (status, attempts, expected) => {
    expect((await sent(() => ({ status }), attempts)).events).toEqual(expected);
  });

  it('is sent again after its connection broke', async () => {
    const { events } = await sent(() => ({ reset: true }));
    expect(events).toEqual(['retry', 'evt_1 again in 5.25 s']);
  });

  it('is given up where its address is not allowed', async () => {
    const { events, calls } = await sent(() => ({}), 1, 'elsewhere');
    expect([events, calls]).toEqual([['given_up', 'evt_1 removed'], []]);
  });

  it('whose attempt is cut short by the end of the processor is due at once, and not counted', async () => {
    const held = Promise.withResolvers<object>();
    await using receiver = await TargetServer.start(() => held.promise);
    const { host } = new URL(receiver.url);
    const { sender, claims, events } = harness([[entry(receiver.url, 8)]], host);
    sender.start();
    await until(() => receiver.calls.length === 1);
    await sender.stop();
    expect([events, claims.length]).toEqual([['evt_1 again in 0 s'], 1]);
    held.resolve({});
  });

  it('is left to other processors where there is no secret to sign it with', async () => {
    const { sender, claims } = harness([], '', '');
    sender.start();
    await sender.stop();
    expect(claims).toEqual([]);
  });
});
