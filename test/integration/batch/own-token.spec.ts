import { once } from 'node:events';
import { rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import { type AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { failureCauseOf } from '../../../src/batch/execute/line-reply.js';
import { verdictOn } from '../../../src/batch/execute/line-sender.js';
import { targetResolver, type TargetResolver } from '../../../src/batch/execute/target-resolver.js';
import { ShortLivedTokens } from '../../../src/platform/auth/short-lived-tokens.js';
import { settingsFrom } from '../../../src/platform/config/settings.js';
import { temporaryFolder } from '../../support/temporary-folder.js';

const OLD = Buffer.alloc(32, 1);
const NEW = Buffer.alloc(32, 2);
const MINUTE_MS = 60_000;

describe('a token of ours that the gateway refuses', () => {
  const folder = temporaryFolder();
  const file = join(folder, 'secret');
  let gateway: Server;
  let tokens: ShortLivedTokens;
  let resolver: TargetResolver;
  /** Of the gateway's clock. */
  let aheadMs: number;
  beforeEach(async () => {
    aheadMs = 0;
    gateway = createServer(({ headers: { authorization = '' } }, response) => {
      const clock = jest.spyOn(Date, 'now').mockReturnValue(Date.now() + aheadMs);
      const isOurs = tokens.verify(authorization.replace('Bearer ', '')) !== undefined;
      clock.mockRestore();
      response.writeHead(isOurs ? 200 : 401, { 'x-should-retry': 'false' }).end('{}');
    });
    await once(gateway.listen(0, '127.0.0.1'), 'listening');
    writeFileSync(file, OLD);
    const { port } = gateway.address() as AddressInfo;
    const settings = settingsFrom({
      'auth.token_secret_file': file,
      'batch.gateway_url': `http://127.0.0.1:${port}`,
    });
    resolver = targetResolver(settings, undefined);
  });
  afterEach(() => {
    resolver.onApplicationShutdown();
    gateway.close();
    rmSync(file, { force: true });
  });

  const send = () =>
    resolver.targetOf('m')!.exchange({
      ...{ path: '/v1/chat/completions', contentType: 'application/json', bytes: 2 },
      ...{ requestId: 'r', owner: { tenant: 't' }, body: () => Buffer.from('{}') },
      signal: new AbortController().signal,
    });

  /** Its target waits, and the line has had no attempt. */
  function expectWait(refused: Awaited<ReturnType<typeof send>>): void {
    expect(failureCauseOf(refused)).toBe('away');
    expect(resolver.targetOf('m')!.isReachable(performance.now())).toBe(false);
    const { retries: limits } = resolver.targetOf('m')!.spec;
    const tried = { failed: 0, busy: 0 };
    const now = { nowMs: 0, deadlineMs: 1000, answers: 1, isProbe: false };
    expect(verdictOn(refused, { ...now, tried, limits })).toMatchObject({ kind: 'again', tried });
  }

  it('makes its target wait and costs the line no attempt; with the new secret in the file it is sent', async () => {
    tokens = new ShortLivedTokens(NEW);
    expectWait(await send());
    writeFileSync(file, NEW);
    await send();
    expect(await send()).toMatchObject({ kind: 'answer', status: 200 });
  });

  it('does so at a gateway whose clock is over an hour ahead; 50 minutes are no matter', async () => {
    tokens = new ShortLivedTokens(OLD);
    aheadMs = 50 * MINUTE_MS;
    expect(await send()).toMatchObject({ kind: 'answer', status: 200 });
    aheadMs = 61 * MINUTE_MS;
    expectWait(await send());
    aheadMs = 0;
    await send();
    expect(await send()).toMatchObject({ kind: 'answer', status: 200 });
  });

  it('is not refused while the gateway also accepts the secret before', async () => {
    tokens = new ShortLivedTokens(NEW, OLD);
    expect(await send()).toMatchObject({ kind: 'answer', status: 200 });
    tokens = new ShortLivedTokens(NEW, Buffer.alloc(32, 3));
    expect(failureCauseOf(await send())).toBe('away');
  });
});
