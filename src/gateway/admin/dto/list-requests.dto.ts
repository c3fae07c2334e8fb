import {
  anyText,
  choiceOf,
  fromForm,
  number,
  whole,
} from '../../../contracts/openai/field-types.js';
import { Field } from '../../../contracts/openai/field.decorators.js';
import { type RequestView } from '../../../core/dispatch/request-view.js';
import { Strict } from '../../http/dto-validation.js';
import { listField, numberField, answer } from '../../http/openapi/answer.js';
import { RequestDto } from '../../requests/dto/request.dto.js';
import { STATUSES } from '../../requests/dto/stored-fields.dto.js';
import { RequestChoiceDto } from './request-choice.dto.js';

@Strict()
export class ListRequestsDto extends RequestChoiceDto {
  @Field(choiceOf(STATUSES), {
    description: 'Absent: queued and running. Ended ones are kept for a while.',
  })
  state?: RequestView['state'];

  @Field(fromForm(whole(1, 1000)), { type: undefined, default: 100 })
  limit = 100;

  @Field(fromForm(whole(0, 10_000_000)), {
    type: undefined,
    default: 0,
    description: 'So many of those that match are left out first.',
  })
  offset = 0;

  @Field(anyText('must be a part of an id'), { description: 'A part of the id.' })
  search?: string;

  @Field(anyText('must be an error code'), {
    description: 'Error code that it ended with.',
    example: 'engine_failed',
  })
  code?: string;

  @Field(fromForm(number(0, Number.MAX_SAFE_INTEGER)), {
    minimum: undefined,
    maximum: undefined,
    description: 'Milliseconds that it has waited, or longer.',
  })
  min_wait_ms?: number;
}

export class RequestListDto extends answer({
  total: numberField('Requests that match; `data` holds at most `limit` of them.'),
  data: listField(RequestDto),
}) {}
