import { every, type FieldType, honoured, textLike } from './field-types.js';
import { Field, RequiredField } from './field.decorators.js';

const PART_IDS: FieldType = {
  schema: { type: [String] },
  checks: [
    [every(value => typeof value === 'string'), 'must be a list of part ids'],
    [value => Array.isArray(value) && value.length > 0, 'must name at least one part'],
  ],
};

export class UploadCompleteDto {
  @RequiredField(PART_IDS, {
    description: 'In the order in which the parts make the file.',
    example: ['part_0198a1b2', 'part_0198a1b3'],
  })
  part_ids!: readonly string[];

  @Field(textLike(/^[0-9a-fA-F]{32}$/, 'must be 32 hex digits'), {
    description: 'Of the whole file; checked when given.',
    rule: honoured('Checked where it was sent.'),
  })
  md5?: string;
}
