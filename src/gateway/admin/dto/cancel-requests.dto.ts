import { choiceOf, custom } from '../../../contracts/openai/field-types.js';
import { Field } from '../../../contracts/openai/field.decorators.js';
import { Strict } from '../../http/dto-validation.js';
import { listField, answer } from '../../http/openapi/answer.js';
import { RequestChoiceDto } from './request-choice.dto.js';

@Strict()
export class CancelRequestsDto extends RequestChoiceDto {
  @Field(choiceOf(['queued', 'running']))
  state?: 'queued' | 'running';

  @Field(custom({ type: Boolean }, value => value === true, 'must be true'), {
    description: 'Say true to cancel everything; needed when no filter is given.',
  })
  all?: true;
}

export class CancelledRequestsDto extends answer({
  cancelled: listField(String, { example: ['req_0198a1b2c3d4'] }),
}) {}
