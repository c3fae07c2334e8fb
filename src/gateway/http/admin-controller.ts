import { applyDecorators, type CanActivate, Controller, UseGuards } from '@nestjs/common';
import { type FastifyRequest } from 'fastify';
import { principalOf } from '../../platform/auth/access-hooks.js';
import { demandScope } from '../../platform/auth/principal.js';

/** The entrance knows who asks; whether they may is asked here. */
const ADMINS_ONLY: CanActivate = {
  canActivate(context) {
    demandScope(principalOf(context.switchToHttp().getRequest<FastifyRequest>()), 'admin');
    return true;
  },
};

/** Routes under `/admin/v1`, for keys with the scope `admin`: others get `missing_scope`. */
export const AdminController = (path = ''): ClassDecorator =>
  applyDecorators(Controller(`admin/v1/${path}`), UseGuards(ADMINS_ONLY));
