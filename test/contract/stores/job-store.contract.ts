import { beforeEach, expect, it, jest } from '@jest/globals';
import { type JobClaims } from '../../../src/platform/database/job-claims.js';
import { type JobStore } from '../../../src/platform/database/job-store.js';
import { type WebhookOutbox } from '../../../src/platform/database/webhook-outbox.js';
import { batchJob, NOW_MS, TENANT } from './batch-fixtures.js';

const LEASE_MS = 15_000;

export interface JobStores {
  readonly jobs: JobStore;
  readonly claims: JobClaims;
  readonly outbox: WebhookOutbox;
  /** A second process on the same database. */
  readonly others: JobStore;
  readonly othersClaims: JobClaims;
}

/** What every job table does, whatever it is made of (D-13). `fresh` empties it. */
export function jobStoreContract(fresh: () => Promise<JobStores>): void {
  let jobs: JobStore;
  let claims: JobClaims;
  let others: JobStore;
  let othersClaims: JobClaims;
  let outbox: WebhookOutbox;

  beforeEach(async () => {
    ({ jobs, claims, others, othersClaims, outbox } = await fresh());
  });

  const inProgress = async (change = {}) => {
    const job = batchJob(change);
    await jobs.create(job);
    const leased = (await claims.claim('p1', LEASE_MS))!;
    await claims.update(job.id, leased.epoch, { status: 'in_progress' }, NOW_MS + 1);
    return { id: job.id, epoch: leased.epoch };
  };

  it('gives back every field', async () => {
    const job = batchJob({
      status: 'failed',
      reachedAtMs: { failed: NOW_MS + 5 },
      counts: { total: 50_000, completed: 3, failed: 4 },
      usage: { inputTokens: 2 ** 40, outputTokens: 2, cachedTokens: 1, reasoningTokens: 0 },
      model: 'm',
      problems: [{ code: 'invalid_json_line', message: 'naïve "quote"', param: null, line: 3 }],
      outputFileId: 'file-o',
      errorFileId: 'file-e',
      metadata: { 'a key': 'ünïcode' },
      outputExpiresAfterS: 3600,
      retryOf: 'batch_before',
      webhook: { url: 'https://example.com/hook' },
      terms: { key: 'key_1', models: ['m'] },
      traceparent: '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01',
    });
    await jobs.create(job);
    expect(await others.find(TENANT, job.id)).toEqual(job);
  });

  it('creates once per idempotency key and tenant', async () => {
    const first = await jobs.create(batchJob(), 'key');
    const again = await others.create(batchJob(), 'key');
    const elsewhere = await jobs.create(batchJob({ tenant: 'tenant-b' }), 'key');
    expect([first.created, again.created, elsewhere.created]).toEqual([true, false, true]);
    expect(again.job.id).toBe(first.job.id);
  });

  it('tells unfinished batches from ended and unknown ones', async () => {
    const { id: running } = await inProgress();
    const { id: ended } = (await jobs.create(batchJob({ status: 'completed' }))).job;
    expect([...(await jobs.unfinishedAmong([running, ended, 'batch_nobody']))]).toEqual([running]);
    expect((await jobs.unfinishedAmong([])).size).toBe(0);
  });

  it('creates any number without a key', async () => {
    const made = [await jobs.create(batchJob()), await jobs.create(batchJob())];
    expect(made.map(({ created }) => created)).toEqual([true, true]);
  });

  it('lists newest first by id, page by page, and its own tenant only', async () => {
    const ids = [];
    for (let count = 0; count < 5; count++) ids.unshift((await jobs.create(batchJob())).job.id);
    await jobs.create(batchJob({ tenant: 'tenant-b' }));
    const first = (await jobs.list(TENANT, { limit: 2 }))!;
    const rest = (await jobs.list(TENANT, { limit: 10, after: first.data.at(-1)!.id }))!;
    expect([...first.data, ...rest.data].map(({ id }) => id)).toEqual(ids);
    expect([first.hasMore, rest.hasMore]).toEqual([true, false]);
    const oldest = (await jobs.list(TENANT, { limit: 1, order: 'asc' }))!;
    expect(oldest.data[0]!.id).toBe(ids.at(-1));
  });

  it('knows no page after an id that is not there, or another tenant’s', async () => {
    const { job } = await jobs.create(batchJob({ tenant: 'tenant-b' }));
    expect(await jobs.list(TENANT, { limit: 1, after: 'batch_none' })).toBeUndefined();
    expect(await jobs.list(TENANT, { limit: 1, after: job.id })).toBeUndefined();
    expect(await jobs.find(TENANT, job.id)).toBeUndefined();
  });

  it('lets one of many claim a job, the one with the least time left first', async () => {
    const late = batchJob({ expiresAtMs: NOW_MS + 60_000 });
    await jobs.create(batchJob());
    await jobs.create(late);
    const held = await Promise.all(
      Array.from({ length: 8 }, (_, owner) =>
        (owner % 2 ? claims : othersClaims).claim(`p${owner}`, LEASE_MS),
      ),
    );
    const claimed = held.flatMap(claim => (claim ? [claim.job.id] : []));
    expect(claimed).toHaveLength(2);
    expect(new Set(claimed).size).toBe(2);
    expect(claimed).toContain(late.id);
  });

  it('claims round robin over tenants: fewest held jobs first, then the least time left', async () => {
    const made = async (tenant: string, leftMs: number) =>
      (await jobs.create(batchJob({ tenant, expiresAtMs: NOW_MS + leftMs }))).job.id;
    const [first, second, third] = [
      await made(TENANT, 1000),
      await made(TENANT, 2000),
      await made(TENANT, 3000),
    ];
    const [other, last] = [await made('tenant-b', 50_000), await made('tenant-b', 60_000)];
    const claimed: string[] = [];
    for (let leased; (leased = await claims.claim('p', LEASE_MS));) claimed.push(leased.job.id);
    expect(claimed).toEqual([first, other, second, last, third]);
    await claims.release(second, 1);
    const shares = [...(await others.tenantShares())].sort((a, b) =>
      a.tenant.localeCompare(b.tenant),
    );
    expect(shares).toEqual([
      { tenant: TENANT, running: 2, waiting: 1 },
      { tenant: 'tenant-b', running: 2, waiting: 0 },
    ]);
  });

  it('hands a job on when its lease runs out, and refuses every write of the zombie', async () => {
    const { id, epoch } = await inProgress();
    expect(await othersClaims.claim('p2', LEASE_MS)).toBeUndefined();
    await claims.heartbeat(id, epoch, 0);
    const taken = (await othersClaims.claim('p2', LEASE_MS))!;
    expect(taken).toMatchObject({ job: { id, status: 'in_progress' }, epoch: epoch + 1 });
    const counts = { total: 1, completed: 1, failed: 0 };
    expect(await claims.heartbeat(id, epoch, LEASE_MS)).toBeUndefined();
    expect(await claims.update(id, epoch, { counts }, NOW_MS)).toBe('lost');
    await claims.release(id, epoch);
    expect(await claims.claim('p3', LEASE_MS)).toBeUndefined();
    expect((await jobs.find(TENANT, id))!.counts.total).toBe(0);
  });

  it('keeps a lease alive by heartbeats, and frees it at once by release', async () => {
    const { id, epoch } = await inProgress();
    await claims.heartbeat(id, epoch, LEASE_MS);
    expect(await othersClaims.claim('p2', LEASE_MS)).toBeUndefined();
    await claims.release(id, epoch);
    expect((await othersClaims.claim('p2', LEASE_MS))?.job.id).toBe(id);
  });

  it('leaves a held job to its holder when the clock of another processor is an hour ahead', async () => {
    const { id, epoch } = await inProgress();
    const clock = jest.spyOn(Date, 'now').mockReturnValue(Date.now() + 3_600_000);
    expect(await othersClaims.claim('p2', LEASE_MS)).toBeUndefined();
    clock.mockRestore();
    expect(await claims.heartbeat(id, epoch, LEASE_MS)).toMatchObject({ id });
  });

  it('stamps each status it reaches', async () => {
    const { id, epoch } = await inProgress();
    await claims.update(id, epoch, { status: 'finalizing' }, NOW_MS + 2);
    await claims.update(id, epoch, { status: 'completed', outputFileId: 'file-o' }, NOW_MS + 3);
    expect(await jobs.find(TENANT, id)).toMatchObject({
      status: 'completed',
      outputFileId: 'file-o',
      reachedAtMs: { in_progress: NOW_MS + 1, finalizing: NOW_MS + 2, completed: NOW_MS + 3 },
    });
  });

  it('keeps its status with a change that has none; counts come with their usage or without any', async () => {
    const { id, epoch } = await inProgress({ webhook: { url: 'https://example.com' } });
    const counts = { total: 5, completed: 2, failed: 1 };
    const usage = { inputTokens: 3, outputTokens: 2, cachedTokens: 1, reasoningTokens: 0 };
    await claims.update(id, epoch, { counts, usage }, NOW_MS + 5);
    await claims.update(id, epoch, { outputFileId: 'file-o' }, NOW_MS + 6);
    const found = await jobs.find(TENANT, id);
    expect(found).toMatchObject({ status: 'in_progress', counts, usage, outputFileId: 'file-o' });
    expect(found!.reachedAtMs).toEqual({ in_progress: NOW_MS + 1 });
    await claims.update(id, epoch, { counts }, NOW_MS + 7);
    expect(await jobs.find(TENANT, id)).not.toHaveProperty('usage');
    expect(await outbox.claim(NOW_MS + 9, 1, 10)).toEqual([]);
  });

  it('refuses an illegal move', async () => {
    const { id, epoch } = await inProgress();
    await expect(claims.update(id, epoch, { status: 'completed' }, NOW_MS)).rejects.toThrow(
      'in_progress cannot become completed',
    );
  });

  it('tells the holder of a cancel by heartbeat and by the next change of status', async () => {
    const { id, epoch } = await inProgress();
    expect(await others.requestCancel(TENANT, id, NOW_MS + 7)).toMatchObject({ accepted: true });
    expect((await claims.heartbeat(id, epoch, LEASE_MS))!.status).toBe('cancelling');
    expect(await claims.update(id, epoch, { status: 'finalizing' }, NOW_MS)).toBe('cancelling');
    expect(await claims.update(id, epoch, { status: 'cancelled' }, NOW_MS + 9)).toBe('written');
    const { reachedAtMs } = (await jobs.find(TENANT, id))!;
    expect(reachedAtMs).toMatchObject({ cancelling: NOW_MS + 7, cancelled: NOW_MS + 9 });
  });

  it('accepts a cancel twice, refuses it after the end, and knows no job of another tenant', async () => {
    const { id, epoch } = await inProgress();
    await jobs.requestCancel(TENANT, id, NOW_MS);
    expect(await jobs.requestCancel(TENANT, id, NOW_MS + 1)).toMatchObject({ accepted: true });
    await claims.update(id, epoch, { status: 'cancelled' }, NOW_MS);
    expect(await jobs.requestCancel(TENANT, id, NOW_MS)).toMatchObject({ accepted: false });
    expect(await jobs.requestCancel('tenant-b', id, NOW_MS)).toBeUndefined();
  });

  it('removes ended jobs only', async () => {
    const { id, epoch } = await inProgress();
    expect(await jobs.remove(TENANT, id)).toBe('running');
    await claims.update(id, epoch, { status: 'failed' }, NOW_MS);
    expect([await jobs.remove(TENANT, id), await jobs.remove(TENANT, id)]).toEqual([
      'removed',
      'unknown',
    ]);
  });

  it('knows which unfinished jobs read a file', async () => {
    const { id, epoch } = await inProgress({ inputFileId: 'file-x' });
    expect(await jobs.usersOf('file-x')).toEqual([id]);
    await claims.update(id, epoch, { status: 'failed' }, NOW_MS);
    expect(await jobs.usersOf('file-x')).toEqual([]);
  });

  it('counts jobs by status and tells how long the oldest has waited', async () => {
    await jobs.create(batchJob({ createdAtMs: Date.now() - 3_600_000 }));
    await jobs.create(batchJob({ createdAtMs: Date.now() }));
    const { byStatus, oldestWaitingMs } = await jobs.backlog();
    expect(byStatus).toMatchObject({ validating: 2, failed: 0 });
    // In minutes, whatever this test itself needs.
    expect(Math.round(oldestWaitingMs! / 600_000)).toBe(6);
    await claims.claim('p', LEASE_MS);
    await claims.claim('p', LEASE_MS);
    expect(await jobs.backlog()).not.toHaveProperty('oldestWaitingMs');
  });

  it('puts one webhook into the outbox with the end, hidden while somebody sends it', async () => {
    const { id, epoch } = await inProgress({ webhook: { url: 'https://example.com' } });
    expect(await outbox.claim(NOW_MS, 1000, 10)).toEqual([]);
    await claims.update(id, epoch, { status: 'failed' }, NOW_MS);
    const [entry] = await outbox.claim(NOW_MS, 1000, 10);
    expect(entry).toMatchObject({
      jobId: id,
      type: 'batch.failed',
      url: 'https://example.com',
      attempts: 1,
    });
    expect(await outbox.claim(NOW_MS + 999, 1000, 10)).toEqual([]);
    expect(await outbox.claim(NOW_MS + 1000, 1000, 10)).toHaveLength(1);
    await outbox.retry(entry!.id, NOW_MS + 5000);
    expect(await outbox.claim(NOW_MS + 4999, 1000, 10)).toEqual([]);
    await outbox.remove(entry!.id);
    expect(await outbox.claim(NOW_MS + 90_000, 1000, 10)).toEqual([]);
  });
}
