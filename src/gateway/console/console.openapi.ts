import { applyDecorators } from '@nestjs/common';
import {
  ApiBody,
  ApiNoContentResponse,
  ApiOkResponse,
  ApiOperation,
  ApiParam,
  ApiProduces,
} from '@nestjs/swagger';
import { DescribesErrors } from '../http/openapi/errors.js';
import { SignInDto } from './dto/sign-in.dto.js';

/** OpenAPI of the page. @param params of the address, which the page itself reads */
export const DescribesPage = (
  description: string,
  params: Readonly<Record<string, string>> = {},
): MethodDecorator =>
  applyDecorators(
    ...Object.entries(params).map(([name, example]) => ApiParam({ name, example })),
    ApiProduces('text/html'),
    ApiOkResponse({ description }),
  );

/** OpenAPI of a script, a style or a picture. */
export const DescribesAsset = (): MethodDecorator =>
  applyDecorators(ApiParam({ name: 'file', example: 'index.js' }), ApiOkResponse());

/** OpenAPI of signing in. */
export const DescribesSignIn = (): MethodDecorator =>
  applyDecorators(
    ApiOperation({
      description:
        'The cookie lasts 12 hours, or as long as the token of the OIDC issuer that signed in.',
    }),
    ApiBody({ type: SignInDto }),
    DescribesErrors('invalid_api_key', 'rate_limit_exceeded', 'issuer_unavailable'),
  );

/** OpenAPI of signing out. */
export const DescribesSignOut = (): MethodDecorator => ApiNoContentResponse();
