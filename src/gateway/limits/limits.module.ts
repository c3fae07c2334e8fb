import { Module } from '@nestjs/common';
import { DependenciesModule } from '../../platform/dependencies/dependencies.module.js';
import { DependencyMonitor } from '../../platform/dependencies/dependency-monitor.js';
import { RedisLink, RedisModule } from '../../platform/redis/redis.module.js';
import { SchedulerModule } from '../scheduler/scheduler.module.js';
import { failOpenLimitStore } from './fail-open-limit-store.js';
import { LimitGuard } from './limit-guard.js';
import { LimitEvents } from './limits.metrics.js';
import { LocalLimitStore } from './local-limit-store.js';
import { LIMIT_STORE, RateLimiter } from './rate-limiter.js';
import { RedisLimitStore } from './redis-limit-store.js';

/** Rate limits and quotas: `limits.*`, and what the keys file says of single keys. */
@Module({
  imports: [DependenciesModule, RedisModule, SchedulerModule],
  providers: [
    {
      provide: LIMIT_STORE,
      inject: [RedisLink, LimitEvents, DependencyMonitor],
      useFactory: (link: RedisLink, events: LimitEvents, monitor: DependencyMonitor) => {
        const own = new LocalLimitStore();
        const redis = link.commands();
        if (!redis) return own;
        const shared = new RedisLimitStore(redis, link.prefix);
        const knownError = () => monitor.state('redis')?.error;
        return failOpenLimitStore(shared, own, error => events.storeFailed(error), knownError);
      },
    },
    RateLimiter,
    LimitGuard,
    LimitEvents,
  ],
  exports: [RateLimiter, LimitGuard],
})
export class LimitsModule {}
