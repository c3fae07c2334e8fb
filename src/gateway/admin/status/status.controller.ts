import { Get } from '@nestjs/common';
import { KeyRing } from '../../../platform/auth/key-ring.js';
import { GatewayIdentity } from '../../../platform/clock/gateway-identity.js';
import { productVersion } from '../../../platform/process/product-version.js';
import { AdminController } from '../../http/admin-controller.js';
import { unixSeconds } from '../../http/openapi/answer.js';
import { Answers } from '../../http/openapi/route.decorator.js';
import { StatusDto } from './dto/status.dto.js';
import { GatewayStatus } from './gateway-status.js';

/** What this gateway does now. */
@AdminController('status')
export class AdminStatusController {
  readonly #version = productVersion();

  constructor(
    private readonly status: GatewayStatus,
    private readonly identity: GatewayIdentity,
    private readonly ring: KeyRing,
  ) {}

  @Get()
  @Answers(StatusDto)
  async find() {
    const { draining, ...status } = await this.status.find();
    return { object: 'status', gateway: this.#gateway(draining), ...status };
  }

  #gateway(draining: boolean) {
    const { id, startedAtMs } = this.identity;
    return {
      id,
      version: this.#version,
      started_at: unixSeconds(startedAtMs),
      uptime_s: Math.floor((Date.now() - startedAtMs) / 1000),
      draining,
      keys: this.ring.state,
    };
  }
}
