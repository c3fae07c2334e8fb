import { Get } from '@nestjs/common';
import { fullErrorMessage } from '@switchyard/engine-api/error-message.js';
import { DependencyMonitor } from '../../platform/dependencies/dependency-monitor.js';
import { AdminController } from '../http/admin-controller.js';
import { Answers } from '../http/openapi/route.decorator.js';
import { DependenciesDto } from './dto/dependencies.dto.js';

/** What this gateway depends on. */
@AdminController('dependencies')
export class AdminDependenciesController {
  constructor(private readonly monitor: DependencyMonitor) {}

  @Get()
  @Answers(DependenciesDto)
  dependencies() {
    const data = this.monitor.states().map(([name, { status, sinceMs, checkedMs, error }]) => ({
      name,
      status,
      since: new Date(sinceMs).toISOString(),
      checked_at: checkedMs === undefined ? undefined : new Date(checkedMs).toISOString(),
      error: error && fullErrorMessage(error),
    }));
    return { data };
  }
}
