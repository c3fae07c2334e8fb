import { Module, type OnModuleInit } from '@nestjs/common';
import { RedisLink, RedisModule } from '../redis/redis.module.js';
import { DependencyMonitor } from './dependency-monitor.js';
import { dependencyMetricProviders } from './dependency.metrics.js';

/**
 * Probes what this process depends on; who owns another dependency than Redis adds its
 * probe with `watch`.
 */
@Module({
  imports: [RedisModule],
  providers: [DependencyMonitor, ...dependencyMetricProviders],
  exports: [DependencyMonitor],
})
export class DependenciesModule implements OnModuleInit {
  constructor(
    private readonly monitor: DependencyMonitor,
    private readonly redis: RedisLink,
  ) {}

  /** @throws StartError */
  async onModuleInit(): Promise<void> {
    await this.redis.check();
    const probe = this.redis.probe();
    if (probe) this.monitor.watch('redis', probe);
  }
}
