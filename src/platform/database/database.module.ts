import { join } from 'node:path';
import {
  Global,
  Inject,
  Module,
  type OnApplicationShutdown,
  type OnModuleInit,
} from '@nestjs/common';
import { sql } from 'kysely';
import { SETTINGS, type Settings } from '../config/settings.js';
import {
  AUDIT_STORE,
  DATABASE_PING,
  FILE_STORE,
  JOB_STORE,
  KEY_STORE,
  RESPONSE_RECORDS,
  STORED_REQUEST_STORE,
  UPLOAD_STORE,
  USAGE_STORE,
  WEBHOOK_OUTBOX,
} from './database.tokens.js';
import { KyselyAuditStore } from './kysely-audit-store.js';
import { KyselyFileStore } from './kysely-file-store.js';
import { KyselyJobStore } from './kysely-job-store.js';
import { KyselyKeyStore } from './kysely-key-store.js';
import { KyselyResponseStore } from './kysely-response-store.js';
import { KyselyStoredRequestStore } from './kysely-stored-request-store.js';
import { KyselyUploadStore } from './kysely-upload-store.js';
import { KyselyUsageStore } from './kysely-usage-store.js';
import { KyselyWebhookOutbox } from './kysely-webhook-outbox.js';
import { connectDatabase, migrate, type OpenDatabase } from './open-database.js';

const DATABASE = Symbol('DATABASE');

/**
 * A read-only server, such as a standby after a failover, answers, but nothing can be
 * stored in it.
 */
const WRITABLE = `do $$ begin
  if current_setting('transaction_read_only')::boolean then
    raise read_only_sql_transaction using message = 'the database is read-only';
  end if;
end $$`;

const store = (provide: symbol, Store: new (database: OpenDatabase) => object) => ({
  provide,
  useFactory: (database: OpenDatabase) => new Store(database),
  inject: [DATABASE],
});

/**
 * The stores of files, batches, keys and usage. The schema is up to date before anything
 * else starts; the connection is the last to go.
 */
@Global()
@Module({
  providers: [
    {
      provide: DATABASE,
      useFactory: ({ database, data }: Settings) =>
        connectDatabase(database.url || join(data.dir, 'switchyard.db')),
      inject: [SETTINGS],
    },
    {
      provide: DATABASE_PING,
      useFactory:
        ({ db, dialect }: OpenDatabase) =>
        () =>
          (dialect === 'postgres' ? sql.raw(WRITABLE) : sql`select 1`).execute(db),
      inject: [DATABASE],
    },
    store(JOB_STORE, KyselyJobStore),
    store(FILE_STORE, KyselyFileStore),
    store(UPLOAD_STORE, KyselyUploadStore),
    store(WEBHOOK_OUTBOX, KyselyWebhookOutbox),
    store(STORED_REQUEST_STORE, KyselyStoredRequestStore),
    store(RESPONSE_RECORDS, KyselyResponseStore),
    store(KEY_STORE, KyselyKeyStore),
    store(USAGE_STORE, KyselyUsageStore),
    store(AUDIT_STORE, KyselyAuditStore),
  ],
  exports: [
    ...[
      DATABASE_PING,
      JOB_STORE,
      FILE_STORE,
      UPLOAD_STORE,
      WEBHOOK_OUTBOX,
      STORED_REQUEST_STORE,
    ],
    ...[RESPONSE_RECORDS, KEY_STORE, USAGE_STORE, AUDIT_STORE],
  ],
})
export class DatabaseModule implements OnModuleInit, OnApplicationShutdown {
  constructor(@Inject(DATABASE) private readonly database: OpenDatabase) {}

  onModuleInit(): Promise<void> {
    return migrate(this.database);
  }

  onApplicationShutdown(): Promise<void> {
    return this.database.db.destroy();
  }
}
