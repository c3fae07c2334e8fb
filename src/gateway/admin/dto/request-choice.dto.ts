import { anyText, choiceOf } from '../../../contracts/openai/field-types.js';
import { Field } from '../../../contracts/openai/field.decorators.js';
import { PRIORITY_LABELS, type PriorityLabel } from '../../../core/request/request-priority.js';
import { Strict } from '../../http/dto-validation.js';

const TENANT = anyText('must be the name of a tenant');

/** The filter of a listing and of a bulk cancel. */
export class RequestChoiceDto {
  @Field(anyText('must be the id of a model'), {
    description: 'Canonical model id.',
    example: 'moonshine-tiny-en',
  })
  model?: string;

  @Field(TENANT, { description: 'Whose requests.', example: 'acme' })
  tenant?: string;

  @Field(choiceOf(PRIORITY_LABELS))
  priority?: PriorityLabel;
}

/** Which of several requests of one id is meant: ids are unique within a tenant only. */
@Strict()
export class NamedRequestDto {
  @Field(TENANT, {
    description: 'Whose request is meant; needed when several tenants have one of that id.',
  })
  tenant?: string;
}
