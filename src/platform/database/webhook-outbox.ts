import { type OutboxEntry } from '../../core/jobs/job.ports.js';
import { DatabaseStore, recordOf } from './database-store.js';

/**
 * Webhooks to send: written with a job's end, hidden while one sender tries, gone when
 * taken or given up.
 */
export class WebhookOutbox extends DatabaseStore {
  /** Due entries, hidden from others until `hideMs` have passed. */
  async claim(
    nowMs: number,
    hideMs: number,
    limit: number,
  ): Promise<readonly OutboxEntry[]> {
    const rows = await this.db
      .updateTable('webhook_outbox')
      .set(({ eb }) => ({ due_at_ms: nowMs + hideMs, attempts: eb('attempts', '+', 1) }))
      .where('id', 'in', outbox =>
        outbox
          .selectFrom('webhook_outbox')
          .select('id')
          .where('due_at_ms', '<=', nowMs)
          .orderBy('due_at_ms')
          .limit(limit)
          .$if(this.locksRows, query => query.forUpdate().skipLocked()),
      )
      .returningAll()
      .execute();
    return rows.map(row => recordOf('webhook_outbox', row, ['due_at_ms']));
  }

  async retry(id: string, atMs: number): Promise<void> {
    await this.db
      .updateTable('webhook_outbox')
      .set({ due_at_ms: atMs })
      .where('id', '=', id)
      .execute();
  }

  /** It was sent, or given up. */
  async remove(id: string): Promise<void> {
    await this.db.deleteFrom('webhook_outbox').where('id', '=', id).execute();
  }
}
