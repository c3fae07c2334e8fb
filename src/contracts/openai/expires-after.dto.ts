import { custom, fromForm, whole } from './field-types.js';
import { RequiredField } from './field.decorators.js';

/** `expires_after` of files and uploads, `output_expires_after` of batches. */
export class ExpiresAfterDto {
  @RequiredField(
    custom(
      { enum: ['created_at'] },
      value => value === 'created_at',
      'must have the anchor created_at',
    ),
  )
  anchor!: 'created_at';

  /** An hour to 30 days. */
  @RequiredField(fromForm(whole(3600, 2_592_000)), { example: 86_400 })
  seconds!: number;
}
