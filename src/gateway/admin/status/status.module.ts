import { Module } from '@nestjs/common';
import { DependenciesModule } from '../../../platform/dependencies/dependencies.module.js';
import { HttpModule } from '../../http/http.module.js';
import { JobsModule } from '../../jobs/jobs.module.js';
import { SchedulerModule } from '../../scheduler/scheduler.module.js';
import { WorkerPoolModule } from '../../worker-pool/worker-pool.module.js';
import { AdminDoctorController } from '../doctor.controller.js';
import { AdminLogsController } from '../logs.controller.js';
import { AdminSettingsController } from '../settings.controller.js';
import { AdminAlertsController } from './alerts.controller.js';
import { GatewayStatus, StoreStatus } from './gateway-status.js';
import { AdminHistoryController } from './history.controller.js';
import { PrometheusAlerts } from './prometheus-alerts.js';
import { RequestHistoryService } from './request-history.service.js';
import { AdminStatusController } from './status.controller.js';

/**
 * The gateway as a whole. Apart from `AdminModule` because it needs the database and the
 * batch processor too.
 */
@Module({
  imports: [DependenciesModule, HttpModule, JobsModule, SchedulerModule, WorkerPoolModule],
  controllers: [
    AdminAlertsController,
    AdminDoctorController,
    AdminStatusController,
    AdminHistoryController,
    AdminLogsController,
    AdminSettingsController,
  ],
  providers: [GatewayStatus, PrometheusAlerts, RequestHistoryService, StoreStatus],
})
export class AdminStatusModule {}
