import { join } from 'node:path';
import { Global, Module, type OnApplicationShutdown, type OnModuleInit } from '@nestjs/common';
import { Settings } from '../config/settings.js';
import { FileStore, UploadStore } from './file-store.js';
import { JobClaims } from './job-claims.js';
import { JobStore } from './job-store.js';
import { KeyStore } from './key-store.js';
import { OpenDatabase } from './open-database.js';
import { ResponseRecordStore } from './response-store.js';
import { StoredRequestStore } from './stored-request-store.js';
import { UsageStore, AuditStore } from './usage-store.js';
import { WebhookOutbox } from './webhook-outbox.js';

const STORES = [
  JobStore,
  JobClaims,
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
        new OpenDatabase(database.url || join(data.dir, 'switchyard.db')),
      inject: [Settings],
    },
    ...STORES,
  ],
  exports: [OpenDatabase, ...STORES],
})
export class DatabaseModule implements OnModuleInit, OnApplicationShutdown {
  constructor(private readonly database: OpenDatabase) {}

  onModuleInit(): Promise<void> {
    return this.database.migrate();
  }

  onApplicationShutdown(): Promise<void> {
    return this.database.db.destroy();
  }
}
