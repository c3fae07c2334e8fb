import {
  anyField,
  choiceField,
  numberField,
  optionalField,
  textField,
  answer,
} from '../../http/openapi/answer.js';

export const STATUSES = ['queued', 'running', 'completed', 'failed', 'cancelled'] as const;

/**
 * What a request has besides, when its answer is stored (`Prefer:
 * respond-async`, `Idempotency-Key`).
 */
export class StoredFieldsDto extends answer({
  status: optionalField(
    choiceField(STATUSES, 'Of a stored request; ended once its content can be fetched.'),
  ),
  endpoint: optionalField(textField({ example: '/v1/audio/transcriptions' })),
  created_at: optionalField(numberField('Unix seconds.')),
  completed_at: optionalField(numberField('Unix seconds.')),
  expires_at: optionalField(numberField('Unix seconds; afterwards it is forgotten.')),
  status_code: optionalField(numberField({ description: 'Status of its answer.', example: 200 })),
  content_url: optionalField(textField('Its answer as it would have been sent.')),
  result: optionalField(anyField('Its answer, when that is JSON of at most 64 KiB.')),
  error: optionalField(anyField('Why it failed or was cancelled, as in the envelope.')),
}) {}
