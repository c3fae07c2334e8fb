import { Module } from '@nestjs/common';
import { ModelsModule } from '../models/models.module.js';
import { RealtimeModule } from '../realtime/realtime.module.js';
import { AuditLog } from './audit-log.js';
import { AdminAuditController } from './audit.controller.js';
import { AdminKeysController } from './keys.controller.js';
import { UsageRecorder } from './usage-recorder.js';
import { AdminUsageController } from './usage.controller.js';

/**
 * Who may do what, who did what, and who used how much: what the database keeps of
 * it, under `/admin/v1`.
 */
@Module({
  imports: [ModelsModule, RealtimeModule],
  controllers: [AdminAuditController, AdminKeysController, AdminUsageController],
  providers: [AuditLog, UsageRecorder],
})
export class AdminAccessModule {}
