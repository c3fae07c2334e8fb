import { join } from 'node:path';
import {
  Global,
  Module,
  type OnApplicationShutdown,
  type OnModuleInit,
} from '@nestjs/common';
import { sql } from 'kysely';
import { Settings } from '../config/settings.js';
import { DATABASE_PING } from './database-store.js';
import { connectDatabase, migrate, OpenDatabase } from './open-database.js';
import { UsageStore, AuditStore } from './usage-store.js';
import { FileStore, UploadStore } from './file-store.js';
import { JobStore } from './job-store.js';
import { KeyStore } from './key-store.js';
import { ResponseRecordStore } from './response-store.js';
import { StoredRequestStore } from './stored-request-store.js';
import { WebhookOutbox } from './webhook-outbox.js';

/**
 * A read-only server, such as a standby after a failover, answers, but nothing can be
 * stored in it.
 */
const WRITABLE = `do $$ begin
  if current_setting('transaction_read_only')::boolean then
    raise read_only_sql_transaction using message = 'the database is read-only';
  end if;
end $$`;

const STORES = [
  JobStore,
  FileStore,
  UploadStore,
  WebhookOutbox,
  StoredRequestStore,
  ResponseRecordStore,
  KeyStore,
  UsageStore,
  AuditStore,
];

/**
 * The stores of files, batches, keys and usage. The schema is up to date before anything
 * else starts; the connection is the last to go.
 */
@Global()
@Module({
  providers: [
    {
      provide: OpenDatabase,
      useFactory: ({ database, data }: Settings) =>
        connectDatabase(database.url || join(data.dir, 'switchyard.db')),
      inject: [Settings],
    },
    {
      provide: DATABASE_PING,
      useFactory:
        ({ db, dialect }: OpenDatabase) =>
        () =>
          (dialect === 'postgres' ? sql.raw(WRITABLE) : sql`select 1`).execute(db),
      inject: [OpenDatabase],
    },
    ...STORES,
  ],
  exports: [DATABASE_PING, ...STORES],
})
export class DatabaseModule implements OnModuleInit, OnApplicationShutdown {
  constructor(private readonly database: OpenDatabase) {}

  onModuleInit(): Promise<void> {
    return migrate(this.database);
  }

  onApplicationShutdown(): Promise<void> {
    return this.database.db.destroy();
  }
}
