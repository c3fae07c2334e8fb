import { Module } from '@nestjs/common';
import { RedisLink } from './redis-link.js';

/** Redis, where `redis.url` names one. */
@Module({ providers: [RedisLink], exports: [RedisLink] })
export class RedisModule {}
