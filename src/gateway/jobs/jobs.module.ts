import { Module } from '@nestjs/common';
import { DatabaseModule } from '../../platform/database/database.module.js';
import { BlobModule } from '../../platform/storage/blob.module.js';
import { BatchesController } from './batches/batches.controller.js';
import { BatchesService } from './batches/batches.service.js';
import { DISK_METRICS } from './disk.metrics.js';
import { FileWriter } from './files/file-writer.js';
import { FilesController, UploadsController } from './files/files.controller.js';
import { FilesService } from './files/files.service.js';
import { UploadsService } from './files/uploads.service.js';
import { GarbageCollector } from './garbage-collector.js';
import { EmbeddedProcessor } from './processor/embedded-processor.js';
import { COUNTED_BLOBS } from './shared/counted-blobs.js';

/**
 * Files and batches over HTTP. It writes rows and blobs; processors run what the rows
 * say.
 */
@Module({
  imports: [DatabaseModule, BlobModule],
  controllers: [FilesController, UploadsController, BatchesController],
  providers: [
    ...COUNTED_BLOBS,
    ...DISK_METRICS,
    BatchesService,
    EmbeddedProcessor,
    FilesService,
    FileWriter,
    GarbageCollector,
    UploadsService,
  ],
  exports: [EmbeddedProcessor],
})
export class JobsModule {}
