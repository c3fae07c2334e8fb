import { Injectable } from '@nestjs/common';
import { type FastifyRequest } from 'fastify';
import { Authenticator, bearerToken } from '../../platform/auth/authenticator.js';
import { OriginGuard } from '../../platform/auth/origin-guard.js';
import { demandScope } from '../../platform/auth/principal.js';

/** Probes need no key; models, workers and processes are named to operators only. */
@Injectable()
export class HealthAccess {
  constructor(
    private readonly authenticator: Authenticator,
    private readonly origins: OriginGuard,
  ) {}

  /** True for a key with the scope admin; where no keys are asked for, for whoever the server serves. */
  seesDetails({ headers, method, ip: address }: FastifyRequest): boolean {
    try {
      demandScope(this.authenticator.authenticateRequest(bearerToken(headers), { headers, address }), 'admin');
      this.origins.demandRequest(method, headers);
      return true;
    } catch {
      return false;
    }
  }
}
