import { answer, textField } from '../../http/openapi/answer.js';

export class SignInDto extends answer({
  key: textField({
    description: 'An API key, or a token of the OIDC issuer.',
    example: 'sk-…',
  }),
}) {}
