import { Global, Module } from '@nestjs/common';
import { GatewayIdentity } from './gateway-identity.js';
import { ProcessClock } from './process-clock.js';

/** One clock for the whole process: stamps from two clocks cannot be compared. */
@Global()
@Module({
  providers: [ProcessClock, GatewayIdentity],
  exports: [ProcessClock, GatewayIdentity],
})
export class ClockModule {}
