import { fromForm, honoured, LARGEST_COUNT, trueOrFalse, whole } from './field-types.js';
import { Field, PageAfter, PageLimit, PageOrder } from './field.decorators.js';

/** Of `GET /v1/responses/{id}`. */
export class RetrieveQueryDto {
  @Field(fromForm(trueOrFalse()), {
    type: undefined,
    default: false,
    description: 'Events of a background response, as they come.',
  })
  stream = false;

  @Field(fromForm(whole(0, LARGEST_COUNT)), {
    description: 'With `stream`: events with a greater `sequence_number` only.',
    rule: honoured('With `stream`.'),
  })
  starting_after?: number;
}

/** Of `GET /v1/responses/{id}/input_items`. */
export class InputItemsQueryDto {
  @PageLimit(100, 20)
  limit = 20;

  @PageOrder()
  order: 'asc' | 'desc' = 'desc';

  @PageAfter('item')
  after?: string;
}
