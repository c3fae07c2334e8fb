import { createParamDecorator } from '@nestjs/common';
import { principalOf, tenantOf } from '../../platform/auth/access-hooks.js';
import { jsonRequest } from './json-body.js';
import { type FormSource } from './multipart-form.js';

/** Parameter of a handler: the `Principal` whose key was shown. */
export const CallerPrincipal = createParamDecorator((_: unknown, context) =>
  principalOf(context.switchToHttp().getRequest()),
);

/** Parameter of a handler: the tenant whose data is asked for. */
export const CallerTenant = createParamDecorator((_: unknown, context) =>
  tenantOf(context.switchToHttp().getRequest()),
);

/**
 * Parameter of a handler: a form, which the handler reads: what it is good for is known
 * before its file arrives.
 */
export const Form = createParamDecorator((_: unknown, context): FormSource =>
  context.switchToHttp().getRequest(),
);

/** Parameter of a handler: a `JsonRequest`. @throws DomainError as `jsonRequest` does */
export const JsonBody = createParamDecorator(jsonRequest);
