import { Module } from '@nestjs/common';
import { UpgradeRouter } from './upgrade-router.js';

/** WebSocket upgrades of the HTTP server, by path. */
@Module({ providers: [UpgradeRouter], exports: [UpgradeRouter] })
export class UpgradeModule {}
