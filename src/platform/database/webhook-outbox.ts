import { type OutboxEntry } from '../../core/jobs/job.ports.js';
import { columnsOf, DatabaseStore } from './database-store.js';

/**
 * Webhooks to send: written with a job's end, hidden while one sender tries, gone when
 * taken or given up.
 */
export class WebhookOutbox extends DatabaseStore {
  /** Due entries, hidden from others until `hideMs` have passed. */
  claim(nowMs: number, hideMs: number, limit: number): Promise<readonly OutboxEntry[]> {
    return this.db
      .updateTable('webhook_outbox')
      .set(({ eb }) => ({ dueAtMs: nowMs + hideMs, attempts: eb('attempts', '+', 1) }))
      .where('id', 'in', outbox =>
        outbox
          .selectFrom('webhook_outbox')
          .select('id')
          .where('dueAtMs', '<=', nowMs)
          .orderBy('dueAtMs')
          .limit(limit)
          .$if(this.locksRows, query => query.forUpdate().skipLocked()),
      )
      .returning(ENTRY)
      .execute();
  }

  async retry(id: string, atMs: number): Promise<void> {
    await this.db
      .updateTable('webhook_outbox')
      .set({ dueAtMs: atMs })
      .where('id', '=', id)
      .execute();
  }

  /** It was sent, or given up. */
  async remove(id: string): Promise<void> {
    await this.db.deleteFrom('webhook_outbox').where('id', '=', id).execute();
  }
}

const ENTRY = columnsOf('webhook_outbox', 'dueAtMs');
